"""``python -m bot`` is ``incumbent``."""

from bot.cli.main import main

main()

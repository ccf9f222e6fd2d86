"""``python -m incumbent`` is ``incumbent``."""

from incumbent.cli.main import main

main()

"""What keys of the config are where its file does not say it: those of ``defaults.yaml``."""

from __future__ import annotations

from functools import reduce
from importlib.resources import files
from typing import Any, Final

from bot.files.documents import parse_yaml
from bot.files.limits import ReadingLimits

_FILE: Final = "defaults.yaml"
_DEFAULTS: Final[Any] = parse_yaml(
    files(__package__).joinpath(_FILE).read_bytes(),
    _FILE,
    ReadingLimits(file_bytes=1_000_000, nesting_depth=10, nodes=10_000),
).data


def default(key: str) -> Any:
    """What the file says of ``key``, as in ``limits.queries``."""
    return reduce(lambda section, name: section[name], key.split("."), _DEFAULTS)

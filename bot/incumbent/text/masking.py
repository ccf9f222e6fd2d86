"""Masks secrets and personal data in all output.

Text and Markdown mask each text that they quote (:func:`masked`).  JSON is masked as a whole when it is written
(:func:`masked_json`), so that no field is forgotten.  Data files are not masked: entries, eval sets, exports, and the
document of facts between the two jobs on GitHub.

The platform's config decides which personal data is masked: callers set the detector once with :func:`mask_by`,
before any output.  The default detector masks everything but names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

from incumbent.text.plain_text import is_shown
from incumbent.text.secrets import STAND_IN, redacted

if TYPE_CHECKING:
    from incumbent.text.personal_data.detector import Detector

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"

_ENTRY: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,79}-[0-9a-f]{8}")
"""An entry id (:func:`incumbent.curator.entry.entry_id`).  Providers' keys do not match, since they have capital
letters."""

_NOT_PLAIN: Final = re.compile(r"[^ -~\n]")


_detector: list[Detector] = []


def mask_by(detector: Detector) -> None:
    """From now on, mask the personal data that ``detector`` finds.

    A global is safe because a process serves one platform: a command opens one (``--repo``), a job of the Action reads
    its own repository, and a server gets one at its start.  A second call sets a newer state of the same config.
    """
    _detector[:] = [detector]


def masked(text: str) -> str:
    """``text`` safe to show.  Entry ids are not masked, even if they begin like a key (`sk-…`)."""
    return masked_together([text])[0]


def masked_together(texts: Iterable[str]) -> list[str]:
    """``texts`` (such as the turns of a query) safe to show; a value has the same placeholder in all of them."""
    given = list(texts)
    shown = iter(masked_with(_current(), [text for text in given if not _ENTRY.fullmatch(text)]))
    return [text if _ENTRY.fullmatch(text) else next(shown) for text in given]


def _current() -> Detector:
    if not _detector:
        # A late import: `incumbent --help` masks nothing.
        from incumbent.text.personal_data.detector import Detector

        _detector.append(Detector())
    return _detector[0]


def masked_with(detector: Detector, texts: Iterable[str]) -> list[str]:
    """``texts`` without keys, and without the personal data that ``detector`` finds."""
    return list(_all_masked(detector, tuple(texts)))


@lru_cache(maxsize=4096)
def _all_masked(detector: Detector, texts: tuple[str, ...]) -> Sequence[str]:
    return detector.all_masked([redacted(text) for text in texts])


def may_be_masked_part(shown: str, text: str) -> bool:
    """Whether ``shown`` may be a masked part of ``text``."""
    from incumbent.text.personal_data.model import PLACEHOLDER

    place = 0
    for part in re.split(f"{PLACEHOLDER.pattern}|{re.escape(STAND_IN)}", shown):
        found = text.find(part, place)
        if found < 0:
            return False
        place = found + len(part)
    return True


def masked_data(data: Json) -> Json:
    """``data`` with all its texts and keys masked; keys that are equal after masking are numbered.

    A number that would be masked as a text becomes the placeholder, a text.
    """
    if isinstance(data, str):
        return masked(data)
    if isinstance(data, list):
        if data and all(isinstance(item, str) for item in data):
            return [*masked_together(map(str, data))]
        return [masked_data(item) for item in data]
    if not isinstance(data, dict):
        return masked_number(data)
    found: dict[str, Json] = {}
    for name, item in data.items():
        shown = base = masked(name)
        count = 1
        while shown in found:
            count += 1
            shown = f"{base} {count}"
        found[shown] = masked_data(item)
    return found


def masked_number(data: int | float | None) -> Json:
    """``data``, or its placeholder if its digits would be masked as a text."""
    from incumbent.text.plain_text import digits_of

    digits = digits_of(data)
    shown = digits and masked(digits)
    return data if shown == digits else shown


def masked_json(data: Json, indent: int | None = 2) -> str:
    """``data`` masked, as JSON that writes each invisible character as an escape (``\\u202e``)."""
    text = json.dumps(masked_data(data), ensure_ascii=False, indent=indent)
    return _NOT_PLAIN.sub(lambda found: _escaped(found[0]), text)


def _escaped(sign: str) -> str:
    return sign if is_shown(sign) else json.dumps(sign)[1:-1]

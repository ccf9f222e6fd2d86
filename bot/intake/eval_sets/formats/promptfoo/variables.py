"""Variables of promptfoo's tests: files read in, and variables put into variables.

Source: promptfoo's ``renderPrompt`` and ``resolveVariables``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from bot.files.documents import Data
from bot.intake.eval_sets.formats.promptfoo.files import PREFIX, Files
from bot.intake.eval_sets.formats.promptfoo.template import TemplateFault, TooLongFault, compiled, is_template, rendered
from bot.intake.place import Place
from bot.intake.templates import as_template, from_template

_ATTACHED: Final = re.compile(
    r".*\.(?:png|jpe?g|gif|bmp|webp|svg|tiff?|ico|avif|heic|mp3|wav|ogg|m4a|flac|aac|mp4|webm|mov|mkv|avi|pdf)",
    re.IGNORECASE,
)
_ROUNDS: Final = 5
"""So many times promptfoo puts variables into variables."""


@dataclass(frozen=True, slots=True)
class Ready:
    """The values of a test's variables as prompts get them, and the names of files that are attached."""

    values: Mapping[str, Data]
    attached: tuple[str, ...]


@dataclass
class Variables:
    """Makes variables ready.

    ``most`` is how many characters one text may come to once it is rendered, ``room`` how many all together still may.
    """

    files: Files
    most: int
    room: int

    def ready(self, place: Place, values: Mapping[str, Data]) -> Ready:
        """``values`` of the test at ``place``, ready to be put into prompts.

        Raises :class:`~bot.errors.InputError` for a file that cannot be read, and
        :class:`~bot.intake.eval_sets.formats.promptfoo.template.TooLongFault`.
        """
        found = dict(values)
        attached: list[str] = []
        # Templates that say one text, whatever it holds: nothing is put into them.
        said: set[str] = set()
        for name, value in values.items():
            if isinstance(value, str) and value.startswith(PREFIX):
                found[name] = self._content(place, value, attached)
            elif isinstance(value, str):
                text = from_template(value)
                if text != value and as_template(text) == value:
                    said.add(name)
                    found[name] = text
                else:
                    found[name] = value.removesuffix("\n")
        for _ in range(_ROUNDS):
            changed = False
            for name, value in found.items():
                if isinstance(value, str) and name not in said and is_template(value):
                    found[name] = self._rendered(value, found)
                    changed = changed or found[name] != value
            if not changed:
                break
        return Ready(found, tuple(attached))

    def _rendered(self, value: str, others: Mapping[str, Data]) -> str:
        """``value`` with the others put in; one that cannot be rendered is text, as in promptfoo."""
        try:
            text = rendered(compiled(value), others, self.most)
        except TooLongFault:
            raise
        except TemplateFault:
            return value
        self.room -= len(text)
        return text

    def _content(self, place: Place, reference: str, attached: list[str]) -> str:
        """The text of the file that a variable names; a picture is attached, and its name is the text."""
        name = reference.removeprefix(PREFIX)
        if _ATTACHED.fullmatch(name):
            attached.append(name)
            return f"[{name}]"
        (source,) = self.files.all(place, reference)
        if source.document is not None and not source.document.is_json:
            return json.dumps(source.document.data, ensure_ascii=False)
        return source.text.strip()

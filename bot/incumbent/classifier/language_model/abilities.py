"""The abilities of an endpoint: probed, by asking for as much as possible and then for less, and remembered.

Between runs they are in the user's cache folder, in one small file per endpoint and model; on GitHub they are on the
ledger branch.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias, get_args

from pydantic import Field

from incumbent.files.user_cache import read_model, remove_whole, write_whole
from incumbent.files.validation import FileModel
from incumbent.taxonomy.config import OpenAISettings
from incumbent.text.digests import digest

if TYPE_CHECKING:
    from incumbent.classifier.language_model.completions import ModelAnswer

Format: TypeAlias = Literal["json_schema", "json_object", "plain"]
LengthKey: TypeAlias = Literal["max_tokens", "max_completion_tokens"]

SCHEMA_NAME: Final = "classification"
TOP_LOG_PROBABILITIES: Final = 5
"""The number of alternatives of a token to ask for: enough for true and false, and the most that endpoints usually
give.
"""

_PROBE_TOKENS: Final = 64
_PROBE_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"works": {"type": "boolean"}},
    "required": ["works"],
    "additionalProperties": False,
}
_PROBE: Final = [{"role": "user", "content": 'Answer with exactly this JSON object and nothing else: {"works": true}'}]


DEFAULT_ENDPOINT: Final = "https://api.openai.com/v1"
"""The endpoint where the config names none."""

PROBING: Final = "1"
"""Increased when other abilities are probed, or in another way: earlier results are then probed again."""


class Abilities(FileModel):
    """What one endpoint can do with one model.

    ``format``: how an answer is bound to a schema; ``several``: whether one request gives all samples of a query;
    ``log_probabilities`` and ``seed``: whether it gives the ones and takes the other; ``length``: the key by which it
    takes a limit of tokens, if any.
    """

    format: Format
    several: bool
    log_probabilities: bool
    seed: bool
    length: LengthKey | None

    @property
    def is_all(self) -> bool:
        """Whether it has every ability that is probed."""
        able = self.several and self.log_probabilities and self.seed and self.length is not None
        return able and self.format == "json_schema"


BEST: Final = Abilities(format="json_schema", several=True, log_probabilities=True, seed=True, length="max_tokens")
LEAST: Final = Abilities(format="plain", several=False, log_probabilities=False, seed=False, length=None)


@dataclass(frozen=True, slots=True)
class Draw:
    """One request: ``samples`` answers of at most ``tokens`` tokens each, that fit ``schema``."""

    messages: Sequence[dict[str, str]]
    schema: dict[str, Any]
    samples: int
    seed: int
    tokens: int


def parameters(draw: Draw, abilities: Abilities) -> dict[str, Any]:
    """The parameters of ``draw`` for an endpoint with ``abilities``; without ``several`` it gives a single answer."""
    found: dict[str, Any] = {"messages": draw.messages}
    if abilities.format == "json_schema":
        schema = {"name": SCHEMA_NAME, "strict": True, "schema": draw.schema}
        found["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif abilities.format == "json_object":
        found["response_format"] = {"type": "json_object", "schema": draw.schema}
    if abilities.several and draw.samples > 1:
        found["n"] = draw.samples
    if abilities.log_probabilities:
        found |= {"logprobs": True, "top_logprobs": TOP_LOG_PROBABILITIES}
    if abilities.seed:
        found["seed"] = draw.seed
    if abilities.length is not None:
        found[abilities.length] = draw.tokens
    return found


Ask: TypeAlias = "Callable[[dict[str, Any], bool], Sequence[ModelAnswer] | None]"
"""Parameters of a request → its answers, or ``None`` if the endpoint does not take these parameters.

``True`` goes with a request whose refusal is remembered: one that may be a passing failure is asked again.
"""


def find_out(ask: Ask, demand: Callable[[dict[str, Any]], Sequence[ModelAnswer]], samples: int) -> Abilities:
    """The abilities of the endpoint, found in one request if it has all of them, and in at most twelve otherwise.

    Repeated requests of ``ask`` do not count.  ``ask`` sends requests that the endpoint may not support; ``demand``
    sends those that every endpoint supports, and raises its refusal.  As many ``samples`` are requested as in queries:
    some servers give no more than they have slots.
    """

    def works(abilities: Abilities, *, final: bool) -> bool:
        answers = ask(probe(abilities, samples), final)
        return answers is not None and shows(answers, abilities, samples)

    # Many endpoints lack log-probabilities and nothing else.
    for measured, length in product((True, False), get_args(LengthKey)):
        best = BEST.model_copy(update={"length": length, "log_probabilities": measured})
        if works(best, final=measured):
            return best
    demand(probe(LEAST, samples))
    known = LEAST
    for change in _CHANGES:
        for step in change:
            bolder = known.model_copy(update=step)
            if works(bolder, final=True):
                known = bolder
                break
    return known


_CHANGES: Final[tuple[tuple[dict[str, Any], ...], ...]] = (
    ({"length": "max_tokens"}, {"length": "max_completion_tokens"}),
    ({"format": "json_schema"}, {"format": "json_object"}),
    ({"several": True},),
    ({"log_probabilities": True},),
    ({"seed": True},),
)


def probe(abilities: Abilities, samples: int) -> dict[str, Any]:
    """A small request that is not a query, for ``samples`` answers, for an endpoint with ``abilities``."""
    return parameters(
        Draw(messages=_PROBE, schema=_PROBE_SCHEMA, samples=samples, seed=0, tokens=_PROBE_TOKENS), abilities
    )


def shows(answers: Sequence[ModelAnswer], abilities: Abilities, samples: int) -> bool:
    """Whether ``answers`` to the probe prove ``abilities``, rather than only that the request was accepted."""
    if len(answers) != (samples if abilities.several else 1):
        return False
    if abilities.log_probabilities and not all(answer.tokens for answer in answers):
        return False
    return abilities.format == "plain" or all(map(_fits, answers))


def _fits(answer: ModelAnswer) -> bool:
    try:
        data = json.loads(answer.text or "")
    except (ValueError, RecursionError):
        return False
    return isinstance(data, dict) and data.keys() == {"works"} and isinstance(data["works"], bool)


_LARGEST: Final = 10_000
_DAY: Final = 86_400


class KeptAbilities(FileModel):
    """What an endpoint was found to be able to do, and when."""

    abilities: Abilities
    found: Annotated[int, Field(ge=0, description="when, in seconds since 1970 (UTC)")]


class RememberedAbilities:
    """A memory in ``folder``, and of abilities ``known`` from elsewhere; without either nothing is remembered.

    Unreadable entries count as missing, and so do those that are older than the config allows.  ``learnt`` are this
    run's findings, by key: ``None`` for known abilities that turned out to be wrong.
    """

    def __init__(
        self,
        folder: Path | None,
        known: Mapping[str, KeptAbilities] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._folder = folder
        self._known = dict(known or {})
        self._clock = clock
        self.learnt: dict[str, KeptAbilities | None] = {}

    def recall(self, known: Mapping[str, KeptAbilities]) -> None:
        """Use abilities ``known`` from elsewhere before those in the folder."""
        self._known.update(known)

    def load(self, settings: OpenAISettings, samples: int) -> Abilities | None:
        """The known abilities of the endpoint and model in ``settings``, for this number of ``samples``."""
        key = key_of_endpoint(settings, samples)
        kept = self._known.get(key)
        if kept is None and self._folder is not None:
            kept = read_model(_file(self._folder, key), KeptAbilities, _LARGEST)
        # The age of a future entry is undefined.
        fresh = kept is not None and 0 <= self._clock() - kept.found <= settings.abilities_days * _DAY
        return kept.abilities if kept is not None and fresh else None

    def store(self, settings: OpenAISettings, samples: int, abilities: Abilities) -> None:
        """Save ``abilities``, if the folder can be written."""
        key = key_of_endpoint(settings, samples)
        kept = KeptAbilities(abilities=abilities, found=int(self._clock()))
        self._known[key] = self.learnt[key] = kept
        if self._folder is not None:
            write_whole(_file(self._folder, key), kept.model_dump_json().encode())

    def forget(self, settings: OpenAISettings, samples: int) -> None:
        """Delete the abilities of that endpoint and model: they refuse one of them."""
        key = key_of_endpoint(settings, samples)
        self._known.pop(key, None)
        self.learnt[key] = None
        if self._folder is not None:
            remove_whole(_file(self._folder, key))


def key_of_endpoint(settings: OpenAISettings, samples: int) -> str:
    """The key of the abilities of the endpoint and model in ``settings``, for this number of ``samples`` (a digest)."""
    parts = [settings.endpoint or DEFAULT_ENDPOINT, settings.api_version, settings.model, samples, PROBING]
    return digest(parts)


def _file(folder: Path, key: str) -> Path:
    return folder / f"endpoint-{key}.json"

"""The files of a batch: requests as JSON Lines out, and untrusted answers as JSON Lines in (pure).

A line is identified by its ``custom_id``.  Lines that were not asked for are ignored.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from incumbent.classifier.language_model.completions import MALFORMED, ModelAnswer, answers_of, tokens_of
from incumbent.classifier.language_model.endpoint import UNSUPPORTED, refusal_of
from incumbent.files.documents import Data, as_mapping

_USELESS_LINES: Final = 50
"""After this many lines that answer no request the rest is not read: the file is probably not ours."""

_OK: Final = 200
_SHOWN: Final = 100
"""Maximum characters of an endpoint's own words in messages."""

_TWICE: Final = "the batch answered it more than once"
_STRANGE: Final = "answers to requests that are not in it"
_NO_ANSWER: Final = "the batch gave no answer to it"

Unit = TypeVar("Unit")


@dataclass(frozen=True, slots=True)
class BatchLine:
    """The result of one request of a batch.

    ``answers`` are not validated; ``fault`` says why there are none.  ``refused``: the endpoint takes this query from
    no one; ``unsupported``: the endpoint may not support the parameters.  ``tokens``: in, cached ones of these, and
    out.
    """

    answers: tuple[ModelAnswer, ...] = ()
    fault: str | None = None
    refused: bool = False
    unsupported: bool = False
    model: str | None = None
    tokens: tuple[int, int, int] = (0, 0, 0)


MISSING: Final = BatchLine(fault=_NO_ANSWER)


@dataclass(frozen=True, slots=True)
class Results:
    """The results in the files of a batch by ``custom_id``, and remarks on their problems."""

    lines: Mapping[str, BatchLine]
    remarks: tuple[str, ...] = ()


def request_line(id: str, url: str, body: Mapping[str, Any]) -> bytes:
    """One request as a line of a batch, its line feed included."""
    line = {"custom_id": id, "method": "POST", "url": url, "body": body}
    return (json.dumps(line, ensure_ascii=False) + "\n").encode()


def chunks(units: Iterable[tuple[Unit, list[bytes]]], most: int, size: int) -> Iterator[list[tuple[Unit, list[bytes]]]]:
    """``units`` of lines in their order, in groups of at most ``most`` lines and ``size`` bytes; units are not divided.

    A unit that is larger than that makes a group of its own.
    """
    group: list[tuple[Unit, list[bytes]]] = []
    lines = taken = 0
    for unit, own in units:
        more = sum(map(len, own))
        if group and (lines + len(own) > most or taken + more > size):
            yield group
            group, lines, taken = [], 0, 0
        group.append((unit, own))
        lines += len(own)
        taken += more
    if group:
        yield group


def read_results(files: Iterable[bytes], asked: Mapping[str, int], model: str, longest: int) -> Results:
    """The answers in ``files`` to the requests ``asked``: the number of wanted answers by ``custom_id``.

    ``model`` is the requested one; a line has at most ``longest`` bytes.
    """
    found: dict[str, BatchLine] = {}
    wrong: Counter[str] = Counter()
    for content in files:
        useless = 0
        for raw in _lines(content):
            id, line = _read(raw, asked, longest)
            if id is None or line is None:
                wrong[id or "lines that are no answers"] += 1
                useless += 1
                if useless == _USELESS_LINES:
                    wrong["rest of a file that is not read, since too many of its lines are no answers to it"] += 1
                    break
            elif id in found:
                found[id] = BatchLine(fault=_TWICE)
                wrong["requests that were answered more than once"] += 1
            else:
                found[id] = line
    found, named = _of_model(found, model)
    return Results(found, (*(f"{count} {what}" for what, count in sorted(wrong.items())), *named))


def _lines(content: bytes) -> Iterator[bytes]:
    """The lines of ``content`` without blank ones, and without a copy of all of them."""
    start = 0
    while start < len(content):
        end = content.find(b"\n", start)
        end = len(content) if end < 0 else end
        raw = content[start:end].strip()
        start = end + 1
        if raw:
            yield raw


def _read(raw: bytes, asked: Mapping[str, int], longest: int) -> tuple[str | None, BatchLine | None]:
    """The id and its result; if there is no result, the first value is the problem of the line."""
    if len(raw) > longest:
        return "lines that are too long (classifier.openai.response_bytes)", None
    try:
        held = json.loads(raw)
    except MALFORMED:
        return None, None
    if not isinstance(held, dict):
        return None, None
    id = held.get("custom_id")
    if not isinstance(id, str) or id not in asked:
        return _STRANGE, None
    return id, _line(held, asked[id])


def _line(held: Mapping[str, Data], samples: int) -> BatchLine:
    response = as_mapping(held.get("response"))
    body = as_mapping(response.get("body"))
    status = response.get("status_code", _OK)
    error = as_mapping(held.get("error")) or as_mapping(body.get("error"))
    if error or status != _OK:
        return _failure(error, status if isinstance(status, int) else 0)
    if not body:
        return MISSING
    model = body.get("model")
    answers = answers_of(body, samples)
    return BatchLine(answers, model=model if isinstance(model, str) else None, tokens=tokens_of(body))


def _failure(error: Mapping[str, Data], status: int) -> BatchLine:
    names = {name for name in (error.get("code"), error.get("type")) if isinstance(name, str)}
    message = error.get("message")
    reason = refusal_of(status, names, message if isinstance(message, str) else "")
    if reason is not None:
        return BatchLine(fault=reason, refused=True)
    word = next((name for name in (error.get("code"), error.get("type")) if isinstance(name, str) and name), "")
    cause = " ".join(filter(None, (f"HTTP {status}" if status else "", shown(word))))
    return BatchLine(
        fault=f"the request failed in the batch ({cause or 'without a reason'})", unsupported=status in UNSUPPORTED
    )


def shown(word: str) -> str:
    """The part of an endpoint's words that is repeated: a code, and no text."""
    return "".join(sign for sign in word[:_SHOWN] if sign.isascii() and (sign.isalnum() or sign in "_-. "))


def _of_model(found: dict[str, BatchLine], model: str) -> tuple[dict[str, BatchLine], tuple[str, ...]]:
    """``found`` without the answers of another model.

    An endpoint may have several names for one model, so that a single name in all answers is accepted.  If there are
    several, only those that begin with the requested name are.
    """
    names = {line.model for line in found.values() if line.model is not None}
    if all(map(_is_named(model), names)):
        return found, ()
    if len(names) == 1:
        return found, (f"all answers name the model {shown(names.pop())!r}, and {shown(model)!r} was asked for",)
    ours = _is_named(model)
    others = {id for id, line in found.items() if line.model is not None and not ours(line.model)}
    fault = BatchLine(fault="another model answered")
    kept = {id: fault if id in others else line for id, line in found.items()}
    return kept, (f"{len(others)} answers that name another model than {shown(model)!r}",)


def _is_named(model: str) -> Any:
    own = model.rpartition("/")[2]

    def named(name: str) -> bool:
        other = name.rpartition("/")[2]
        return other == own or (other.startswith(own) and other[len(own)] in "-@:")

    return named

"""Shards of the ledger: files that have classifications in a compact form, a query in each line (pure).

Names are in a shard once, at its top.  Texts from outside are not in it: the names of tools are digests, which
:func:`incumbent.ledger.keys.with_tool_names` translates back.
"""

from __future__ import annotations

import base64
import json
import re
import struct
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import Annotated, Any, Final, TypeVar

from pydantic import Field, Strict

from incumbent.classifier.model import (
    Basis,
    CalledTools,
    Classification,
    Consensus,
    Contradiction,
    Findings,
    Judgement,
    Path,
    StatedCalls,
    Unfamiliar,
    shared_judgement,
)
from incumbent.errors import InputError, Problem
from incumbent.files.validation import Digest, FileModel, Score, Tuple
from incumbent.ledger.model import LedgerFile
from incumbent.taxonomy.model import Identifier
from incumbent.text.compare import DECIMALS
from incumbent.text.digests import digest

SHARDS: Final = ".shards"
"""The end of a folder of shards: those of ``pull_requests/7.json`` are in ``pull_requests.shards/7/``.

A folder at the top is listed as a whole: with one for each kind, a run lists no more than the kinds that it reads.
"""
ROWS: Final = 64
"""The queries that a shard has at most, on average: a push that changes one query writes as many again."""

_PATHS: Final[dict[Path, str]] = {
    "specification": "s",
    "tool": "t",
    "structure": "c",
    "expected": "e",
    "inference": "i",
    "arbitration": "a",
    "undeclared": "u",
    "corrected": "p",
}
_BASES: Final[dict[tuple[Basis, bool], str]] = {
    ("calibrated", False): "c",
    ("log-probabilities", False): "l",
    ("stated", False): "s",
    ("vote", False): "v",
    ("calibrated", True): "d",
    ("log-probabilities", True): "m",
    ("stated", True): "t",
    ("vote", True): "w",
}
_JUDGED: Final = {sign: path for path, sign in _PATHS.items()}
_FOUND: Final = {sign: basis for basis, sign in _BASES.items()}
_UNKNOWN: Final = "-"
_UNIT: Final = 10**DECIMALS
_DIGEST: Final = re.compile(r"[0-9a-f]{24}")
_NAME: Final = re.compile(r"[A-Za-z0-9]+([._-][A-Za-z0-9]+)*")
_LONGEST_NAME: Final = 100

Place = Annotated[int, Field(ge=0)]
Scores = Annotated[
    str,
    Field(
        pattern=r"^[A-Za-z0-9+/]*={0,2}$",
        description="in base64, 4 bytes each, the least first: whole multiples of 10⁻⁹, from 0 to 1",
    ),
]
Key = TypeVar("Key")


class StoredCalls(FileModel, extra="ignore"):
    """What a language model said of the tools that a query calls."""

    asked: Digest = Field(description="digest of the list of tools that it was asked about")
    probability: Score
    steps: Tuple[Tuple[Annotated[tuple[Place, Score], Strict(False)]]] = Field(
        default=(), description="of each step: place of a tool in `tools`, and its probability"
    )
    attempt: bool = False


class StoredFindings(FileModel, extra="ignore"):
    """What a language model found in a query."""

    answers: Annotated[str, Field(pattern=r"^[-clsvdmtwCLSVDMTW]*$")] = Field(
        description="a sign for each of `questions`: basis of the answer (calibrated, log-probabilities, stated, vote; "
        "d, m, t, w: the same of a query that argued), a capital if it is TRUE, - without an answer"
    )
    scores: Scores = Field(description="confidence of each answer")
    calls: Tuple[StoredCalls] = ()


class StoredContradiction(FileModel, extra="ignore"):
    """Where an eval set expects other calls than the classifier; tools by their places in `tools`."""

    expected: Tuple[Place] = ()
    likeliest: Tuple[Place] = ()
    probability: Score


class StoredStatedCalls(FileModel, extra="ignore"):
    """That an eval set expects calls of tools."""

    probability: Score | None = None
    different: Annotated[int, Field(ge=0)]
    capabilities: Tuple[Place] = Field(default=(), description="places of those that rest on it")


class StoredClassification(FileModel, extra="ignore"):
    """A row of a shard: the classification of one query."""

    of: Place = Field(default=0, description="place of its list of capabilities in `capabilities`")
    values: Annotated[str, Field(pattern=r"^[stceiaupSTCEIAUP]*$")] = Field(
        description="a sign for each capability: what decided it (specification, tool, count in the query, "
        "expectation, inference, arbitration, undeclared, person), a capital if it is TRUE"
    )
    scores: Scores = Field(description="confidence of each value")
    off_taxonomy: Tuple[Identifier] = ()
    arbitrated: Tuple[Place] = Field(default=(), description="places of capabilities")
    attempt: bool = False
    basis: Basis | None = None
    unfamiliar: Unfamiliar | None = None
    contradiction: StoredContradiction | None = None
    stated: StoredStatedCalls | None = None
    findings: dict[Digest, StoredFindings] = Field(default_factory=dict)


class Shard(LedgerFile, extra="ignore"):
    """``….shards/…/<shard>.json``: classifications of queries by the key of their content."""

    capabilities: Tuple[Tuple[Identifier]] = Field(default=(), description="lists of ids that rows refer to")
    questions: Tuple[Digest] = Field(default=(), description="digests of what a language model was asked")
    tools: Tuple[Digest] = Field(default=(), description="digests of names of tools")
    queries: dict[Digest, StoredClassification] = Field(default_factory=dict)


def shard_folder(path: str) -> str:
    """The folder of the shards that belong to the file at ``path`` of the ledger."""
    top, _, rest = path.removesuffix(".json").partition("/")
    return f"{top}{SHARDS}/{rest}" if rest else f"{top}{SHARDS}"


def is_shard(path: str) -> bool:
    """Whether the file at ``path`` of the ledger is a shard."""
    return path.partition("/")[0].endswith(SHARDS)


def shards_of(path: str, classifications: Mapping[str, Classification]) -> dict[str, str]:
    """The shards of the file at ``path``: by their own path, their texts; none without ``classifications``.

    Queries are distributed by their keys.  The number of shards is a power of two that follows from the number of
    queries, so that equal classifications give equal bytes, and a changed query changes one shard or two.  Confidences
    are rounded to the decimals to which they are compared.  What is no name or digest of its kind is left out.
    """
    kept = {key: item for key, item in classifications.items() if _is_storable(key, item)}
    bits = max(0, (len(kept) - 1) // ROWS).bit_length()
    width = max(1, -(-bits // 4))
    parts: dict[int, dict[str, Classification]] = {}
    for key in sorted(kept):
        parts.setdefault(int(key[:8], 16) >> (32 - bits), {})[key] = kept[key]
    folder = shard_folder(path)
    return {f"{folder}/{place:0{width}x}.json": _shard_text(part) for place, part in sorted(parts.items())}


def _is_storable(key: str, item: Classification) -> bool:
    return _DIGEST.fullmatch(key) is not None and all(map(_is_name, item.judgements))


@lru_cache(maxsize=10_000)
def _is_name(text: str) -> bool:
    return len(text) <= _LONGEST_NAME and _NAME.fullmatch(text) is not None


class _Places(dict[Key, int]):
    """Items in the order in which they were asked for first, and their places."""

    def __missing__(self, item: Key) -> int:
        self[item] = len(self)
        return self[item]


def _shard_text(part: Mapping[str, Classification]) -> str:
    found = [findings for item in part.values() for findings in item.findings.values()]
    questions = sorted({name for each in found for name in each.capabilities if _DIGEST.fullmatch(name)})
    lists, tools = _Places[tuple[str, ...]](), _Places[str]()
    rows = [f"{_compact(key)}:{_compact(_row(item, lists, questions, tools))}" for key, item in part.items()]
    head = {"capabilities": [*map(list, lists)], "questions": questions, "tools": [*tools]}
    return f'{_compact(head)[:-1]},"queries":{{\n' + ",\n".join(rows) + "\n}}\n"


def _compact(data: object) -> str:
    return json.dumps(data, separators=(",", ":"))


def _row(
    item: Classification, lists: _Places[tuple[str, ...]], questions: Collection[str], tools: _Places[str]
) -> dict[str, Any]:
    """The row of ``item``, without what is the default of a :class:`StoredClassification`."""
    names = tuple(item.judgements)
    row: dict[str, Any] = {
        "of": lists[names],
        "values": "".join([_sign(_PATHS[each.path], each.value) for each in item.judgements.values()]),
        "scores": _packed(each.confidence for each in item.judgements.values()),
        "off_taxonomy": [*filter(_is_name, item.off_taxonomy)],
        "arbitrated": [place for place, name in enumerate(names) if name in item.arbitrated],
        "attempt": item.attempt,
        "basis": item.basis,
        "unfamiliar": item.unfamiliar,
        "findings": {
            key: _stored(each, questions, tools)
            for key, each in sorted(item.findings.items())
            if _DIGEST.fullmatch(key) and (each.capabilities or each.tools)
        },
    }
    if item.contradiction is not None:
        row["contradiction"] = {
            "expected": [tools[tool_digest(name)] for name in item.contradiction.expected],
            "likeliest": [tools[tool_digest(name)] for name in item.contradiction.likeliest],
            "probability": item.contradiction.probability,
        }
    if item.stated is not None:
        row["stated"] = {
            "probability": item.stated.probability,
            "different": item.stated.different,
            "capabilities": [place for place, name in enumerate(names) if name in item.stated.capabilities],
        }
    return {name: value for name, value in row.items() if value or name in ("values", "scores")}


def _stored(item: Findings, questions: Collection[str], tools: _Places[str]) -> dict[str, Any]:
    answers = [(name, item.capabilities[name]) for name in questions if name in item.capabilities]
    signs = {name: _sign(_BASES[each.basis, each.attempt], each.value) for name, each in answers}
    return {
        "answers": "".join([signs.get(name, _UNKNOWN) for name in questions]),
        "scores": _packed(each.confidence for _, each in answers),
        "calls": [
            {
                "asked": asked,
                "probability": calls.probability,
                "steps": [[[tools[tool_digest(name)], share] for name, share in step.items()] for step in calls.steps],
                "attempt": calls.attempt,
            }
            for asked, calls in sorted(item.tools.items())
            if _DIGEST.fullmatch(asked)
        ],
    }


def tool_digest(name: str) -> str:
    """The digest of a tool's ``name``; of a digest it is itself."""
    return name if _DIGEST.fullmatch(name) else digest(name)


def _sign(letter: str, value: bool) -> str:
    return letter.upper() if value else letter


def _packed(scores: Iterable[float]) -> str:
    whole = [round(score * _UNIT) for score in scores]
    return base64.b64encode(struct.pack(f"<{len(whole)}I", *whole)).decode("ascii")


def classifications_in(shard: Shard, file: str) -> dict[str, Classification]:
    """The classifications of ``shard``, with digests in place of the names of tools.

    Raises :class:`InputError` if its parts do not fit together; ``file`` is the name in the message.
    """
    try:
        return {key: _classification(row, shard) for key, row in shard.queries.items()}
    except (IndexError, ValueError):
        fix = "take the file out: its queries are classified again"
        raise InputError([Problem(file, None, "the parts of a row do not fit together", fix)]) from None


def _classification(row: StoredClassification, shard: Shard) -> Classification:
    names = shard.capabilities[row.of]
    said, stated = row.contradiction, row.stated
    return Classification(
        judgements=dict(zip(names, _judgements(row), strict=True)),
        off_taxonomy=row.off_taxonomy,
        arbitrated=frozenset(names[place] for place in row.arbitrated),
        attempt=row.attempt,
        basis=row.basis,
        unfamiliar=row.unfamiliar,
        contradiction=None
        if said is None
        else Contradiction(
            expected=tuple(shard.tools[place] for place in said.expected),
            likeliest=tuple(shard.tools[place] for place in said.likeliest),
            probability=said.probability,
        ),
        stated=None
        if stated is None
        else StatedCalls(
            probability=stated.probability,
            different=stated.different,
            capabilities=frozenset(names[place] for place in stated.capabilities),
        ),
        findings={key: _findings(item, shard) for key, item in row.findings.items()},
    )


def _judgements(row: StoredClassification) -> list[Judgement]:
    scores = _unpacked(row.scores)
    return [
        shared_judgement(sign.isupper(), score, _JUDGED[sign.lower()])
        for sign, score in zip(row.values, scores, strict=True)
    ]


def _findings(item: StoredFindings, shard: Shard) -> Findings:
    answers = [(name, sign) for name, sign in zip(shard.questions, item.answers, strict=True) if sign != _UNKNOWN]
    capabilities = {}
    for (name, sign), score in zip(answers, _unpacked(item.scores), strict=True):
        basis, attempt = _FOUND[sign.lower()]
        capabilities[name] = Consensus(sign.isupper(), score, basis, attempt)
    return Findings.model_construct(
        capabilities=capabilities, tools={calls.asked: _calls(calls, shard) for calls in item.calls}
    )


def _calls(item: StoredCalls, shard: Shard) -> CalledTools:
    steps = tuple({shard.tools[place]: share for place, share in step} for step in item.steps)
    return CalledTools(item.probability, steps, item.attempt)


def _unpacked(text: str) -> list[float]:
    data = base64.b64decode(text, validate=True)
    if len(data) % 4:
        raise ValueError(text)
    whole = struct.unpack(f"<{len(data) // 4}I", data)
    if max(whole, default=0) > _UNIT:
        raise ValueError(text)
    return [number / _UNIT for number in whole]

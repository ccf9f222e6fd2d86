"""Which declared tools a query calls: fits the weights that ship, and measures the method on agents held out.

python -m dev.bench called-tools                measure: weights fitted without the agents that they are measured on
python -m dev.bench called-tools --fit          fit on everything and write
bot/incumbent/classifier/embedded/tool_weights.json python -m dev.bench called-tools --test FILE    measure the shipped
weights on the agents and prompts of a file

Data: tests/labels/called_tools*.jsonl, files of the same format (--more), and, where INCUMBENT_CORPUS is set, the
prompts of azure_mcp_a_to_c.jsonl (one agent with all of their tools, by name alone) and some of sealtools.jsonl.  What
kind of request a text is comes from the exemplars of the shipped taxonomy and from lines {"query", "kind"} of --more.
Without --text-probabilities (a JSON file from query to probability), what these kinds say, with noise, stands in.

Nothing is random but by fixed seeds.  Embeddings are kept in --vectors between runs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from incumbent.classifier.embedded.embedding import SCALE, E5Embedder, Embedder
from incumbent.classifier.embedded.steps import LEADS, read_step, step_features
from incumbent.classifier.embedded.tools import FILE, RequestPart, ToolIndex, Weights, WeightSet, text_odds
from incumbent.classifier.embedded.weights import SHIPPED_DIGEST, required_weights
from incumbent.classifier.embedded.word_lists import OPERATIONS
from incumbent.classifier.visible_text import clean
from incumbent.files.snapshot import WorkingTree
from incumbent.intake.specification import Parameter, Tool
from incumbent.taxonomy.loading import load_taxonomy

Array = NDArray[np.float64]

REPOSITORY: Final = Path(__file__).parents[2]
LABELS: Final = [REPOSITORY / "tests/labels" / name for name in ("called_tools.jsonl", "called_tools_2.jsonl")]
WRITTEN: Final = REPOSITORY / "bot/incumbent/classifier/embedded" / FILE
CALL: Final = "execution.tools.call"
KNOWLEDGE: Final = ("execution.knowledge.",)
SHARES: Final = {"azure": 0.4, "seal": 0.2, "reworded": 0.1}
"""How much a row weighs in the choice of a tool against those of called_tools.jsonl: published prompts are many and
alike, and prompts in people's own words for many near-alike tools say less of what sets tools apart."""
CALL_SHARES: Final = {"azure": 0.15, "seal": 0.0}
ORDER_SHARE: Final = 0.1
"""What an exemplar that begins with a plain verb weighs when operations are fitted."""
CROSSED_SHARE: Final = 0.15
"""What a prompt for another agent weighs, as one that calls none of this agent's tools."""
SEAL_AGENTS: Final = 12
SEAL_ROWS: Final = 160
NAMES_ONLY: Final = 19
"""Columns of :meth:`ToolFeatures.lexical` before the products of what is asked and what the tool does."""
PENALTY_LIKENESS: Final = 1.0
PENALTY_PRODUCTS: Final = 2.0
PENALTY_EFFECTS: Final = 0.5
PENALTY_MEANING: Final = 1.0
PENALTY_CALL: Final = 10.0
PENALTY_OPERATIONS: Final = 1.0
PENALTY_KINDS: Final = 4.0
FOLDS: Final = 5
INNER_FOLDS: Final = 3
BOOTSTRAPS: Final = 1_000
DIGITS: Final = 4


@dataclass
class Agent:
    """An agent's tools and starters."""

    tools: list[Tool]
    starters: list[str]
    writes: Array = field(init=False)

    def __post_init__(self) -> None:
        """Which tools change something."""
        self.writes = np.array([float(tool.effect == "write") for tool in self.tools])


@dataclass
class Row:
    """A prompt for an agent and the tools it calls: for each call the acceptable names."""

    agent: str
    turns: list[str]
    calls: list[list[str]]
    text_probability: float = 0.5
    crossed: bool = False

    @property
    def family(self) -> str:
        """What is held out together: an agent, or of one with very many tools those of one service."""
        return f"azure-{self.calls[0][0].split('_')[0]}" if self.agent == "azure" else self.agent

    @property
    def kind(self) -> str:
        """Under which name it is measured."""
        for kind in ("azure", "seal", "github", "reworded"):
            if self.agent.startswith(kind):
                return kind
        return "invented" if self.agent.startswith("inv") else "published"


@dataclass
class Data:
    """Everything that is fitted on."""

    agents: dict[str, Agent] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    kinds: dict[str, list[str]] = field(default_factory=dict)


class StoredEmbedder:
    """An embedder that keeps what it has embedded in a file."""

    def __init__(self, inner: Embedder, path: Path | None) -> None:
        self.inner = inner
        self.path = path
        self.name = inner.name
        self.known: dict[str, NDArray[np.int8]] = {}
        if path is not None and path.exists():
            stored = np.load(path)
            self.known = dict(zip(stored["k"].tolist(), stored["v"], strict=True))

    def embed(self, texts: Sequence[str]) -> NDArray[np.int8]:
        """The embeddings of ``texts``."""
        keys = [hashlib.sha1(f"query|{text}".encode(), usedforsecurity=False).hexdigest()[:20] for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self.known}
        if missing:
            for key, vector in zip(missing, self.inner.embed(list(missing.values())), strict=True):
                self.known[key] = vector
        return np.array([self.known[key] for key in keys], np.int8).reshape(len(texts), -1)

    def store(self) -> None:
        """Writes the file."""
        if self.path is not None:
            np.savez(self.path, k=np.array(list(self.known)), v=np.array(list(self.known.values())))


def main(arguments: Sequence[str]) -> int:
    """Fit or measure; returns the exit code, which is always 0."""
    parser = argparse.ArgumentParser("bench called-tools", description=__doc__.splitlines()[0])
    parser.add_argument("--more", type=Path, action="append", default=[])
    parser.add_argument("--test", type=Path)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--text-probabilities", type=Path)
    parser.add_argument("--errors", action="store_true", help="list the prompts whose tool is not first")
    given = parser.parse_args(arguments)
    embedder = StoredEmbedder(E5Embedder(required_weights(SHIPPED_DIGEST)), given.vectors)
    data = Data()
    for path in [*LABELS, *given.more]:
        read_file(data, path)
    read_corpus(data)
    read_taxonomy(data)
    if given.test is not None:
        test = Data()
        read_file(test, given.test)
        set_text_probabilities(test, fit_kinds(data, embedder), embedder, given.text_probabilities)
        for used in (embedder, None):
            for with_text in (True, False):
                print(_heading(used is not None, with_text))
                indexes = {name: ToolIndex(agent.tools, agent.starters, used) for name, agent in test.agents.items()}
                report(
                    [measure(test.agents[row.agent], indexes[row.agent], row, with_text) for row in test.rows],
                    given.errors,
                )
        return 0
    kinds = fit_kinds(data, embedder)
    set_text_probabilities(data, kinds, embedder, given.text_probabilities)
    if given.fit:
        write(fit(data, data.rows, kinds, embedder), data)
    else:
        validate(data, kinds, embedder, given.errors)
    embedder.store()
    return 0


# Reading.


def read_file(data: Data, path: Path) -> None:
    """Agents, prompts and kinds of texts from a file of JSON lines."""
    for line in path.read_text(encoding="utf-8").splitlines():
        found = json.loads(line)
        if "tools" in found:
            data.agents[found["agent"]] = Agent([tool(item) for item in found["tools"]], list(found["starters"]))
        elif "calls" in found:
            turns = found["query"] if isinstance(found["query"], list) else [found["query"]]
            data.rows.append(Row(found["agent"], turns, found["calls"]))
        else:
            data.kinds[found["query"]] = found["kind"]


def read_corpus(data: Data) -> None:
    """Published prompts, where they are at hand."""
    folder = os.environ.get("INCUMBENT_CORPUS")
    if folder is None:
        return
    prompts = _lines(Path(folder) / "queries/azure_mcp_a_to_c.jsonl")
    effects = {row["tools"][0]: "read" if row["labels"]["annotations"]["readOnly"] else "write" for row in prompts}
    data.agents["azure"] = Agent([tool({"name": name, "effect": effect}) for name, effect in effects.items()], [])
    data.rows += [Row("azure", row["turns"], [row["tools"]]) for row in prompts]
    draw = random.Random(3)
    single = [row for row in _lines(Path(folder) / "queries/sealtools.jsonl") if len(row["tools"]) == 1]
    customers = sorted({row["customer"] for row in single})
    draw.shuffle(customers)
    place = {customer: number % SEAL_AGENTS for number, customer in enumerate(customers)}
    for number in range(SEAL_AGENTS):
        names = sorted({row["tools"][0] for row in single if place[row["customer"]] == number})
        data.agents[f"seal{number}"] = Agent([tool({"name": name}) for name in names], [])
    for row in draw.sample(single, SEAL_ROWS):
        data.rows.append(Row(f"seal{place[row['customer']]}", row["turns"], [row["tools"]]))


def read_taxonomy(data: Data) -> None:
    """What kind of request the exemplars of the shipped taxonomy are."""
    taxonomy = load_taxonomy(WorkingTree(REPOSITORY))
    knowledge = {
        text
        for capability in taxonomy.capabilities
        if capability.id.startswith(KNOWLEDGE)
        for text in capability.exemplars.positive
    }
    for capability in taxonomy.capabilities:
        if capability.id == CALL:
            for text in (*capability.exemplars.positive, *capability.exemplars.negative):
                if isinstance(text, str):
                    kind = "call" if text in capability.exemplars.positive else ""
                    data.kinds.setdefault(text, [kind, "knowledge" if text in knowledge else ""])


def tool(item: dict[str, Any]) -> Tool:
    """A tool of a file."""
    return Tool(
        name=item["name"],
        description=item.get("description", ""),
        protocol="rest",
        effect=item.get("effect", "unknown"),
        effect_from="",
        confirmation=None,
        card=None,
        auth=None,
        declared_in="",
        parameters=tuple(Parameter(name=name) for name in item.get("parameters", ())),
    )


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def text_of(row: Row) -> str:
    """The turns as the index reads them."""
    return "\n".join(clean(turn, 4_000) for turn in row.turns)


# Fitting.


@dataclass
class Kinds:
    """What a text's embedding, less ``centre``, says of its kind: call, knowledge, neither."""

    weights: Array
    centre: Array

    def odds(self, vectors: Array) -> Array:
        """A row of log-odds for each embedding."""
        found: Array = (vectors - self.centre) / SCALE @ self.weights[:, :-1].T + self.weights[:, -1]
        return found


def fit_kinds(data: Data, embedder: Embedder) -> Kinds:
    """The kinds of texts, fitted on exemplars."""
    texts = sorted(data.kinds)
    vectors = embedder.embed([clean(text, 4_000) for text in texts]).astype(float)
    centre = np.round(vectors.mean(axis=0), 2)
    wanted = np.array([["call" in data.kinds[text], "knowledge" in data.kinds[text]] for text in texts], float)
    wanted = np.column_stack([wanted, wanted.sum(axis=1) == 0])
    rows = np.column_stack([np.ones(len(texts)), (vectors - centre) / SCALE])
    fitted = [logistic(rows, column, np.ones(len(texts)), PENALTY_KINDS) for column in wanted.T]
    return Kinds(np.array([[*weights[1:], weights[0]] for weights in fitted]), centre)


def set_text_probabilities(data: Data, kinds: Kinds, embedder: Embedder, path: Path | None) -> None:
    """What a classifier of the text alone says of each row: from a file, or what its kind says, with noise."""
    known = {} if path is None else json.loads(path.read_text(encoding="utf-8"))
    draw = np.random.default_rng(11)
    odds = kinds.odds(embedder.embed([text_of(row) for row in data.rows]).astype(float))[:, 0]
    for row, odd in zip(data.rows, odds + 0.7 * draw.standard_normal(len(odds)), strict=True):
        row.text_probability = known.get("\n".join(row.turns), float(1 / (1 + np.exp(-odd))))


def plain_orders(data: Data) -> tuple[list[str], list[list[float]]]:
    """Texts that begin with a plain verb or ask for records, with the operation, and whether it changes anything."""
    texts, wanted = [], []
    for text in sorted(data.kinds):
        lead = read_step(clean(text, 4_000)).lead
        if "call" in data.kinds[text] and lead.max() == 1 and LEADS[int(lead.argmax())] not in ("other", "run"):
            operation = LEADS[int(lead.argmax())]
            shares = lead[: len(OPERATIONS)].copy()
            if operation == "question":
                shares[[OPERATIONS.index("get"), OPERATIONS.index("list")]] = 0.5
            texts.append(text)
            wanted.append([*shares.tolist(), -1.0 if operation in ("get", "list", "question") else 1.0])
    return texts, wanted


def fit_operations(data: Data, rows: Sequence[Row], kinds: Kinds, embedder: Embedder) -> Array:
    """Which operation the called tool does, and whether it changes anything, by the embedding: ridge regression.

    Plain orders among the exemplars are worth a little: they are in more languages.
    """
    agents = data.agents
    rows = [row for row in rows if len(row.calls) == 1]
    orders, wanted = plain_orders(data)
    shares = np.array([*([ORDER_SHARE] * len(orders)), *(SHARES.get(row.kind, 1.0) for row in rows)])
    for row in rows:
        operations = _index(agents, row.agent, None).operations
        places = _places(agents[row.agent], row.calls[0])
        effects = [{"read": -1.0, "write": 1.0}.get(agents[row.agent].tools[place].effect, 0.0) for place in places]
        wanted.append([*operations[places].mean(axis=0), float(np.mean(effects))])
    texts = [*(clean(text, 4_000) for text in orders), *(text_of(row) for row in rows)]
    vectors = (embedder.embed(texts).astype(float) - kinds.centre) / SCALE
    found = np.column_stack([vectors, np.ones(len(texts))])
    penalty = np.diag([*([PENALTY_OPERATIONS] * vectors.shape[1]), 1e-6])
    solved: Array = np.linalg.solve(
        (found * shares[:, None]).T @ found + penalty, (found * shares[:, None]).T @ np.array(wanted)
    )
    return solved.T


_INDEXES: dict[str, ToolIndex] = {}


def _index(agents: dict[str, Agent], name: str, embedder: Embedder | None) -> ToolIndex:
    """The index of an agent; its weights are set before it is used."""
    key = f"{name} {embedder is not None} {id(agents)}"
    if key not in _INDEXES:
        _INDEXES[key] = ToolIndex(agents[name].tools, agents[name].starters, embedder, _unfitted())
    return _INDEXES[key]


def _unfitted(size: int = 384) -> Weights:
    empty = WeightSet(np.zeros(0), np.zeros(0), np.zeros(0))
    zeros = np.zeros((len(OPERATIONS) + 1, size + 1))
    return Weights(np.zeros(size), zeros, zeros[:3], empty, empty, np.zeros(0))


def _read(
    agents: dict[str, Agent], row: Row, embedder: Embedder | None, weights: Weights
) -> tuple[ToolIndex, RequestPart]:
    index = _index(agents, row.agent, embedder)
    index.use(weights)
    return index, index.read([text_of(row)])[0]


def _places(agent: Agent, names: Sequence[str]) -> list[int]:
    return [place for place, item in enumerate(agent.tools) if item.name in names]


def folds_of(rows: Iterable[Row], number: int) -> list[set[str]]:
    """The families of ``rows`` in so many parts."""
    families = sorted({row.family for row in rows if row.calls or row.agent != "azure"})
    random.Random(7).shuffle(families)
    return [set(families[start::number]) for start in range(number)]


def fit(data: Data, rows: Sequence[Row], kinds: Kinds, embedder: Embedder) -> Weights:
    """The weights fitted on ``rows``."""
    empty = WeightSet(np.zeros(0), np.zeros(0), np.zeros(0))
    operations = fit_operations(data, rows, kinds, embedder)
    weights = Weights(kinds.centre, operations, kinds.weights, empty, empty, np.zeros(0))
    inner = folds_of(rows, INNER_FOLDS)
    held = [fit_operations(data, [row for row in rows if row.family not in part], kinds, embedder) for part in inner]
    sets = {}
    for name, used in (("meaning", embedder), ("words", None)):
        read = {}
        for part, own in zip(inner, held, strict=True):
            for row in rows:
                if row.family in part:
                    read[id(row)] = _read(data.agents, row, used, replaced(weights, operations=own))[1]
        single = [row for row in rows if len(row.calls) == 1]
        start = fit_choice(data, single, read, None)
        features: list[list[float]] = []
        wanted: list[float] = []
        shares: list[float] = []
        odds: list[float] = []
        for part in inner:
            choice = fit_choice(data, [row for row in single if row.family not in part], read, start)
            for row in rows:
                if row.family in part and CALL_SHARES.get(row.kind, 1.0):
                    index = _index(data.agents, row.agent, used)
                    index.use(replaced(weights, **{name: WeightSet(choice, np.zeros(0), np.zeros(0))}))
                    found = index.scores(read[id(row)])
                    features.append([1.0, *index.call_features([read[id(row)]], [found])[0]])
                    wanted.append(float(bool(row.calls)))
                    shares.append(CALL_SHARES.get(row.kind, 1.0))
                    odds.append(text_odds(row.text_probability))
            for row, index, reading in crossed(
                data, rows, part, used, replaced(weights, **{name: WeightSet(choice, np.zeros(0), np.zeros(0))})
            ):
                features.append([1.0, *index.call_features([reading], [index.scores(reading)])[0]])
                wanted.append(0.0)
                shares.append(CROSSED_SHARE)
                odds.append(text_odds(row.text_probability))
        table = np.array(features)
        call = logistic(table, np.array(wanted), np.array(shares), PENALTY_CALL)
        with_text = logistic(np.column_stack([table, odds]), np.array(wanted), np.array(shares), PENALTY_CALL)
        sets[name] = WeightSet(start, call, with_text)
    plain = [row for row in rows if CALL_SHARES.get(row.kind, 1.0) == 1.0]
    bare = logistic(
        np.array([[1.0, *step_features(read_step(text_of(row)))] for row in plain]),
        np.array([float(bool(row.calls)) for row in plain]),
        np.ones(len(plain)),
        PENALTY_CALL,
    )
    return replaced(weights, meaning=sets["meaning"], words=sets["words"], bare=bare)


def crossed(
    data: Data, rows: Sequence[Row], part: set[str], embedder: Embedder | None, weights: Weights
) -> Iterable[tuple[Row, ToolIndex, RequestPart]]:
    """Prompts that call tools of another agent, read by the agents of ``part``; the same ones every time."""
    agents = sorted(
        {
            row.agent
            for row in rows
            if row.family in part and row.kind in ("invented", "reworded", "published", "github")
        }
    )
    asked = sorted(
        (row for row in rows if row.calls and row.kind == "invented"), key=lambda row: (row.agent, row.turns)
    )
    for name in agents:
        draw = random.Random(name)
        others = [row for row in asked if row.agent != name]
        for row in draw.sample(others, min(12, len(others))):
            index = _index(data.agents, name, embedder)
            index.use(weights)
            yield row, index, index.read([text_of(row)])[0]


def replaced(weights: Weights, **parts: Any) -> Weights:
    """``weights`` with other parts."""
    return Weights(**({name: getattr(weights, name) for name in weights.__dataclass_fields__} | parts))


def fit_choice(data: Data, rows: Sequence[Row], read: dict[int, RequestPart], start: Array | None) -> Array:
    """Conditional logit: the weights that make the acceptable tools' share of the softmax likely; Newton's method."""
    tables = [read[id(row)].rows for row in rows]
    centred = [table - table.mean(axis=0) for table in tables]
    wanted = [np.array([float(item.name in row.calls[0]) for item in data.agents[row.agent].tools]) for row in rows]
    shares = [SHARES.get(row.kind, 1.0) for row in rows]
    size = centred[0].shape[1]
    penalty = np.full(size, PENALTY_LIKENESS)
    products = NAMES_ONLY + 7 * 8
    penalty[NAMES_ONLY:products] = PENALTY_PRODUCTS
    penalty[products : products + 14] = PENALTY_EFFECTS
    penalty[products + 14 :] = PENALTY_MEANING
    weights = np.zeros(size) if start is None else start

    def loss(weights: Array) -> float:
        total = float(0.5 * (penalty * weights * weights).sum())
        for table, own, share in zip(centred, wanted, shares, strict=True):
            scores = table @ weights
            odds = np.exp(scores - scores.max())
            total -= share * float(np.log((odds * own).sum() + 1e-300) - np.log(odds.sum()))
        return total

    current = loss(weights)
    for _ in range(40):
        slope, curve = penalty * weights, np.diag(penalty)
        for table, own, share in zip(centred, wanted, shares, strict=True):
            scores = table @ weights
            odds = np.exp(scores - scores.max())
            odds /= odds.sum()
            target = odds * own
            target /= target.sum()
            mean = odds @ table
            slope = slope + share * (table.T @ (odds - target))
            curve = curve + share * ((table * odds[:, None]).T @ table - np.outer(mean, mean))
        direction, length = np.linalg.solve(curve, slope), 1.0
        while (reached := loss(weights - length * direction)) > current and length > 1e-4:
            length /= 2
        weights = weights - length * direction
        if current - reached < 1e-4:
            break
        current = reached
    return weights


def logistic(rows: Array, wanted: Array, shares: Array, penalty: float) -> Array:
    """Logistic regression with a ridge on all but the first column, on columns of like spread."""
    spread = rows.std(axis=0) + 0.05
    spread[0] = 1.0
    rows = rows / spread
    weights, ridge = np.zeros(rows.shape[1]), np.full(rows.shape[1], penalty)
    ridge[0] = 1e-6
    for _ in range(60):
        chances = 1 / (1 + np.exp(-np.clip(rows @ weights, -30, 30)))
        slope = ridge * weights - rows.T @ (shares * (wanted - chances))
        curve = np.diag(ridge) + (rows * (shares * chances * (1 - chances))[:, None]).T @ rows
        direction = np.linalg.solve(curve, slope)
        weights = weights - direction * min(1.0, 5 / float(np.abs(direction).max()))
        if np.abs(direction).max() < 1e-8:
            break
    found: Array = weights / spread
    return found


def write(weights: Weights, data: Data) -> None:
    """Writes the data file."""
    kinds = sorted({row.kind for row in data.rows})
    counts = ", ".join(f"{sum(row.kind == kind for row in data.rows)} {kind}" for kind in kinds)
    content = {
        "comment": f"Written by `python -m dev.bench called-tools --fit` on {counts} prompts.",
        "centre": weights.centre.tolist(),
        "operations": _short(weights.operations),
        "kinds": _short(weights.kinds),
        **{
            name: {part: _short(getattr(used, part)) for part in ("tool", "call", "call_with_text")}
            for name, used in (("words", weights.words), ("meaning", weights.meaning))
        },
        "bare": _short(weights.bare),
    }
    lines = ",\n".join(f" {json.dumps(key)}: {json.dumps(value)}" for key, value in content.items())
    WRITTEN.write_text("{\n" + lines + "\n}\n", encoding="utf-8")


def _short(values: Array) -> Any:
    return np.round(values, DIGITS).tolist()


# Measuring.


@dataclass(frozen=True)
class Measured:
    """What was said of a row, and what is right."""

    row: Row
    probability: float
    writes: float
    expected_write: bool
    ranks: tuple[int, ...]
    """Of a prompt that calls one tool, the rank of the first acceptable one, from 0."""
    said: tuple[str, ...]
    steps: int


def measure(agent: Agent, index: ToolIndex, row: Row, with_text: bool) -> Measured:
    """What ``index`` says of ``row``."""
    called = index.calls(row.turns, row.text_probability if with_text else None)
    writing = {item.name for item in agent.tools if item.effect == "write"}
    quiet = 1.0
    for step in called.steps:
        quiet *= 1.0 - sum(share for name, share in step.items() if name in writing)
    expected = any(all(name in writing for name in names) for names in row.calls)
    order = index.ranked(row.turns)
    names = [agent.tools[place].name for place in order]
    ranks = (min(names.index(name) for name in row.calls[0] if name in names),) if len(row.calls) == 1 else ()
    return Measured(
        row, called.probability, called.probability * (1 - quiet), expected, ranks, tuple(names[:3]), len(called.steps)
    )


def validate(data: Data, kinds: Kinds, embedder: Embedder, errors: bool) -> None:
    """Weights fitted without the families that they are measured on."""
    found: dict[tuple[bool, bool], list[Measured]] = {}
    for part in folds_of(data.rows, FOLDS):
        weights = fit(data, [row for row in data.rows if row.family not in part], kinds, embedder)
        for row in data.rows:
            if row.family in part and row.kind != "seal":
                for used in (True, False):
                    index = _index(data.agents, row.agent, embedder if used else None)
                    index.use(weights)
                    for with_text in (True, False):
                        found.setdefault((used, with_text), []).append(
                            measure(data.agents[row.agent], index, row, with_text)
                        )
    for (used, with_text), measured in found.items():
        print(_heading(used, with_text))
        report(measured, errors and used and with_text)


def _heading(used: bool, with_text: bool) -> str:
    return f"\n{_with(used)} embeddings, {_with(with_text)} the text's probability"


def _with(used: bool) -> str:
    return "with" if used else "without"


def report(measured: Sequence[Measured], errors: bool) -> None:
    """The measures per kind of agent, with 95 % bootstrap intervals."""
    kinds = sorted({item.row.kind for item in measured})
    for kind in [*kinds, "all but azure"]:
        own = [
            item for item in measured if item.row.kind == kind or (kind == "all but azure" and item.row.kind != "azure")
        ]
        print(f"{kind:14s} {len(own):4d} prompts")
        for name, of in MEASURES.items():
            print(f"  {name:34s} {interval(own, of)}")
    if errors:
        for item in measured:
            wrong = (item.ranks and item.ranks[0] > 0) or (item.probability >= 0.5) != bool(item.row.calls)
            if wrong or item.steps != max(1, len(item.row.calls)):
                print(
                    item.row.agent,
                    item.row.turns,
                    "calls",
                    item.row.calls,
                    "said",
                    item.probability,
                    item.steps,
                    item.said,
                )


def phi(table: Array) -> float | None:
    """Correlation of the predicted with the expected change."""
    said, right = table[:, 1] >= 0.5, table[:, 2] > 0
    both, one, other = float((said & right).sum()), float(said.sum()), float(right.sum())
    size = len(table)
    spread = one * (size - one) * other * (size - other)
    return (both * size - one * other) / spread**0.5 if spread else None


def ranked(limit: int) -> Callable[[Array], float | None]:
    """The share of prompts of one call whose tool is among the first ``limit``."""

    def share(table: Array) -> float | None:
        found = table[table[:, 4] >= 0, 4]
        return float((found < limit).mean()) if len(found) else None

    return share


def recall(table: Array) -> float | None:
    """Of the prompts that call a tool, the share that is said to."""
    found = table[table[:, 3] > 0, 0]
    return float((found >= 0.5).mean()) if len(found) else None


def precision(table: Array) -> float | None:
    """Of the prompts that are said to call a tool, the share that does."""
    found = table[table[:, 0] >= 0.5, 3]
    return float(found.mean()) if len(found) else None


def calibration(table: Array) -> float | None:
    """Expected calibration error of the probability of a call, in ten bins of like width."""
    bins = np.minimum((table[:, 0] * 10).astype(int), 9)
    sizes = np.bincount(bins, minlength=10)
    off = np.bincount(bins, table[:, 0] - table[:, 3], minlength=10)
    return float(np.abs(off).sum() / sizes.sum())


MEASURES: Final[dict[str, Callable[[Array], float | None]]] = {
    "effect, phi": phi,
    "right tool first": ranked(1),
    "right tool among three": ranked(3),
    "tool call, recall": recall,
    "tool call, precision": precision,
    "tool call, ECE": calibration,
}


def interval(items: Sequence[Measured], of: Callable[[Array], float | None]) -> str:
    """A measure and its 95 % bootstrap interval over prompts."""
    table = np.array(
        [
            [
                item.probability,
                item.writes,
                float(item.expected_write),
                float(bool(item.row.calls)),
                item.ranks[0] if item.ranks else -1.0,
            ]
            for item in items
        ]
    )
    value = of(table)
    if value is None:
        return "-"
    draw = np.random.default_rng(5)
    again = [of(table[draw.integers(0, len(table), len(table))]) for _ in range(BOOTSTRAPS)]
    low, high = np.percentile([one for one in again if one is not None], [2.5, 97.5])
    return f"{value:.3f}  [{low:.3f}, {high:.3f}]"

"""What the language model path costs against the naive scheme: requests and prompt tokens.

python -m dev.bench cost                with the prompt that ships
python -m dev.bench cost --config FILE  with the settings of a config's classifier.openai, whose endpoint is not asked
python -m dev.bench cost --examples 0   with so many worked examples of each capability
python -m dev.bench cost --json         as JSON

20 queries × 20 inferred capabilities × 5 samples, all asked of a server on loopback that answers everything with FALSE
and counts.  The naive scheme asks once per capability and sample, in two wordings: `bare` is dev/bench/naive_prompt.py;
`careful` carries our instructions, for one capability.  Needs a tokenizer, which the product does not:
pip install bpe-openai==0.1.4
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Final, TypeAlias

from dev.bench.naive_prompt import Messages, NaiveBackend, NaiveCall
from incumbent.classifier.language_model.abilities import RememberedAbilities
from incumbent.classifier.language_model.backend import LanguageModelBackend
from incumbent.classifier.language_model.prompt import CANARY_DESCRIPTION, Example, compose, worked_examples
from incumbent.classifier.model import Backend, InferenceRequest
from incumbent.errors import IncumbentError, UsageError
from incumbent.files.snapshot import WorkingTree
from incumbent.intake.eval_sets.folder import read_eval_sets
from incumbent.taxonomy.config import OpenAISettings, default, load_config
from incumbent.taxonomy.loading import load_taxonomy
from incumbent.taxonomy.model import Taxonomy
from tests.classifier.attacks.obedient_model import instance
from tests.classifier.factories import openai_settings
from tests.classifier.model_server import Model, ModelServer, Reply, is_probe

REPOSITORY: Final = Path(__file__).parents[2]
EVAL_SET: Final = "examples/customers/northwind-tracker/tracker"
QUERIES: Final = 20
CAPABILITIES: Final = 20
SAMPLES: Final = 5
TOKENIZER: Final = "bpe-openai==0.1.4"
VOCABULARY: Final = "o200k_base"

MESSAGE_TOKENS: Final = 4
REPLY_TOKENS: Final = 3
"""What chat formats put around a message, and before the reply (OpenAI cookbook, how to count tokens)."""

CACHED_FROM: Final = 1024
CACHED_STEP: Final = 128
"""The shortest prefix that a hosted endpoint keeps, and by how many tokens it grows (OpenAI, prompt caching)."""

Encode: TypeAlias = Callable[[str], Sequence[object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one way of asking costs; ``probing`` requests are counted apart, and their tokens not at all.

    ``repeated`` are those of ``prompt_tokens`` that begin an earlier prompt too, ``cached`` those of them that a hosted
    endpoint would have kept; ``schema_tokens`` come on top where an endpoint shows the schema to the model.
    """

    way: str
    requests: int
    probing: int
    prompt_tokens: int
    repeated: int
    cached: int
    schema_tokens: int
    answer_tokens: int


def main(arguments: Sequence[str]) -> int:
    """Measure and print; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m dev.bench cost", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--config", type=Path, help="whose classifier.openai sets the prompt's limits")
    parser.add_argument("--examples", type=int, help="in place of classifier.openai.examples")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    try:
        taxonomy = load_taxonomy(WorkingTree(REPOSITORY))
        settings = _settings(options.config, taxonomy)
        if options.examples is not None:
            settings = settings.model_copy(update={"examples": options.examples})
        report = measure(_requests(taxonomy), taxonomy, SAMPLES, settings, tokenizer())
    except IncumbentError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    if options.json:
        print(json.dumps(report, indent=1))
    else:
        _print(report)
    return 0


def tokenizer() -> Encode:
    """The tokenizer of current OpenAI models; raises :class:`UsageError` where it is not installed."""
    try:
        encoding = import_module("bpe_openai").get_encoding(VOCABULARY)
    except ImportError:
        raise UsageError(f"tokens are counted with a tokenizer: `pip install {TOKENIZER}`, then again") from None

    def encode(text: str) -> Sequence[object]:
        found: Sequence[object] = encoding.encode(text, disallowed_special=())
        return found

    return encode


def _settings(path: Path | None, taxonomy: Taxonomy) -> OpenAISettings:
    if path is None:
        shipped = {name: default(f"classifier.openai.{name}") for name in ("prompt_bytes", "examples")}
        return openai_settings(**shipped)
    settings = load_config(WorkingTree(path.parent), frozenset(taxonomy.by_id), path.name).classifier.openai
    if settings is None:
        raise UsageError(f"{path} has no classifier.openai; name a config that has, or none")
    return settings


def _requests(taxonomy: Taxonomy) -> list[InferenceRequest]:
    """The example's queries, of an agent that declares nothing."""
    limits = load_config(WorkingTree(REPOSITORY), frozenset(taxonomy.by_id)).limits
    found = read_eval_sets(WorkingTree(REPOSITORY / EVAL_SET, EVAL_SET), limits)
    queries = [query for eval_set in found for query in eval_set.queries][:QUERIES]
    names = tuple(item.id for item in taxonomy.capabilities if item.source == "intent")[:CAPABILITIES]
    return [InferenceRequest(query_id=query.id, turns=query.turns, capabilities=names) for query in queries]


def measure(
    requests: Sequence[InferenceRequest], taxonomy: Taxonomy, samples: int, settings: OpenAISettings, encode: Encode
) -> dict[str, Any]:
    """The cost of ``requests`` in every way, ours over the naive ones as ratios, and where our tokens go."""

    def ours(endpoint: OpenAISettings) -> Backend:
        return LanguageModelBackend(
            taxonomy, endpoint, samples, {endpoint.key_variable: "k"}, RememberedAbilities(None)
        )

    def bare(endpoint: OpenAISettings) -> Backend:
        return _naive(NaiveBackend, endpoint)

    def careful(endpoint: OpenAISettings) -> Backend:
        return _naive(CarefulBackend, endpoint)

    def _naive(kind: type[NaiveBackend], endpoint: OpenAISettings) -> Backend:
        return kind(taxonomy=taxonomy, settings=endpoint, samples=samples, environment={endpoint.key_variable: "k"})

    costs = [
        cost("ours, samples in one request", requests, ours, settings, encode),
        cost("ours, the same with log-probabilities", requests, ours, settings, encode, log_probabilities=True),
        cost("ours, one sample a request", requests, ours, settings, encode, several=False),
        cost("naive, bare", requests, bare, settings, encode),
        cost("naive, careful", requests, careful, settings, encode),
    ]
    return {
        "queries": len(requests),
        "capabilities": len(requests[0].capabilities),
        "samples": samples,
        "costs": [asdict(each) for each in costs],
        "ratios": [_ratios(mine, theirs) for mine in costs[:3] for theirs in costs[3:]],
        "prompt": anatomy(requests, taxonomy, settings, encode),
    }


def cost(
    way: str,
    requests: Sequence[InferenceRequest],
    make: Callable[[OpenAISettings], Backend],
    settings: OpenAISettings,
    encode: Encode,
    *,
    several: bool = True,
    log_probabilities: bool = False,
) -> Cost:
    """What the backend that ``make`` makes has an endpoint count.

    The endpoint gives ``several`` samples a request, and ``log_probabilities``, if so told.
    """
    model = Model(_all_false, several=several, log_probabilities=log_probabilities)
    answers: list[str] = []

    def reply(body: dict[str, Any], number: int) -> Reply:
        found = model(body, number)
        if found.status == 200 and not is_probe(body):
            answers.extend(choice["message"]["content"] for choice in json.loads(found.body)["choices"])
        return found

    with ModelServer(reply) as server:
        # One at a time: what repeats an earlier prompt is the same in every run.
        endpoint = settings.model_copy(
            update={"endpoint": server.endpoint, "api_version": None, "in_flight": 1, "prices": None}
        )
        findings = dict(make(endpoint).infer(requests))
        asked, probing = server.asked, len(server.requests) - len(server.asked)
    if len(findings) != len(requests) or any(item.shortfall for item in findings.values()):
        raise UsageError(f"{way}: queries were left without an answer; raise prompt_bytes or the budget")
    total = repeated = cached = 0
    earlier: dict[object, Any] = {}
    for body in asked:
        tokens = list(_prompt_tokens(body["messages"], encode))
        known = _known(tokens, earlier)
        total += len(tokens)
        repeated += known
        cached += known - known % CACHED_STEP if known >= CACHED_FROM else 0
    return Cost(
        way=way,
        requests=len(asked),
        probing=probing,
        prompt_tokens=total,
        repeated=repeated,
        cached=cached,
        schema_tokens=sum(
            len(encode(json.dumps(body["response_format"]))) for body in asked if "response_format" in body
        ),
        answer_tokens=sum(len(encode(text)) for text in answers),
    )


def _all_false(body: dict[str, Any]) -> object:
    if "response_format" not in body:
        return {"exercised": False, "probability": 10}
    return instance(body["response_format"]["json_schema"]["schema"], lambda path: False, number=90)


def _prompt_tokens(messages: Messages, encode: Encode) -> Iterator[object]:
    for message in messages:
        yield from (message["role"], *["around"] * (MESSAGE_TOKENS - 1))
        yield from encode(message["content"])
    yield from ["reply"] * REPLY_TOKENS


def _known(tokens: Iterable[object], earlier: dict[object, Any]) -> int:
    """How many of ``tokens`` begin one of the ``earlier`` prompts, a tree of tokens to which these are added."""
    known = 0
    for token in tokens:
        known += token in earlier
        earlier = earlier.setdefault(token, {})
    return known


@dataclass(kw_only=True)
class CarefulBackend(NaiveBackend):
    """The naive scheme in our own words: the same instructions and delimiters, for one capability without canary."""

    examples: dict[tuple[str, ...], tuple[Example, ...]] = field(default_factory=dict)

    def calls(self, request: InferenceRequest) -> Iterator[NaiveCall]:
        """One call per capability and sample."""
        messages = {
            name: self._messages(replace(request, capabilities=(name,), tools=())) for name in request.capabilities
        }
        for _ in range(self.samples):
            yield from (NaiveCall(name, each) for name, each in messages.items())

    def _messages(self, request: InferenceRequest) -> Messages:
        names = request.capabilities
        if names not in self.examples:
            self.examples[names] = worked_examples(self.taxonomy, names, self.settings.examples)
        prompt = compose(self.taxonomy, request, self.examples[names], stated=True, size=self.settings.prompt_bytes)
        label = prompt.asked.labels[prompt.asked.canary]
        canary = (f"\n- {label}: {CANARY_DESCRIPTION}", f', "{label}": {{"exercised": false, "certainty": 100}}')
        return [_without(canary, message) for message in prompt.messages]


def _without(texts: Sequence[str], message: dict[str, str]) -> dict[str, str]:
    content = message["content"]
    for text in texts:
        content = content.replace(text, "")
    return message | {"content": content}


def _ratios(ours: Cost, naive: Cost) -> dict[str, Any]:
    return {
        "ours": ours.way,
        "naive": naive.way,
        "requests": round(naive.requests / ours.requests, 1),
        "prompt_tokens": round(naive.prompt_tokens / ours.prompt_tokens, 1),
        "uncached": round((naive.prompt_tokens - naive.cached) / (ours.prompt_tokens - ours.cached), 1),
        "unrepeated": round((naive.prompt_tokens - naive.repeated) / (ours.prompt_tokens - ours.repeated), 1),
        "answer_tokens": round(naive.answer_tokens / ours.answer_tokens, 2),
    }


def anatomy(
    requests: Sequence[InferenceRequest], taxonomy: Taxonomy, settings: OpenAISettings, encode: Encode
) -> dict[str, Any]:
    """Where the tokens of our prompt go: instructions, the line of each capability (its id apart), the mean query."""
    examples = worked_examples(taxonomy, requests[0].capabilities, settings.examples)
    prompts = [compose(taxonomy, each, examples, stated=True, size=settings.prompt_bytes) for each in requests]
    asked = prompts[0].asked
    lines = {name: f"- {name}: {taxonomy.by_id[name].description}\n" for name in asked.capabilities}
    lines[asked.canary] = f"- {asked.canary}: {CANARY_DESCRIPTION}\n"
    sizes = {name: len(encode(line)) for name, line in lines.items()}
    system = len(encode(prompts[0].system))
    return {
        "instructions": system - sum(sizes.values()),
        "capabilities": sizes,
        "ids": sum(len(encode(f"- {name}:")) for name in lines),
        "query": round(sum(len(encode(each.user)) for each in prompts) / len(prompts), 1),
        "examples": sum(len(encode(text)) + MESSAGE_TOKENS for pair in prompts[0].examples for text in pair),
        "around": 2 * MESSAGE_TOKENS + REPLY_TOKENS,
    }


def _print(report: dict[str, Any]) -> None:
    print(
        f"{report['queries']} queries × {report['capabilities']} capabilities × {report['samples']} samples; "
        f"tokens of {VOCABULARY}\n"
    )
    columns = ("requests", "probing", "prompt_tokens", "repeated", "cached", "schema_tokens", "answer_tokens")
    print(f"{'':38}" + "".join(f"{name:>15}" for name in columns))
    for each in report["costs"]:
        print(f"{each['way']:38}" + "".join(f"{each[name]:15,}" for name in columns))
    print(
        "\nSo many times as much the naive scheme takes (uncached: prompt tokens that a hosted endpoint has not kept; "
        "unrepeated: those that begin no earlier prompt, however short):"
    )
    ratios = ("requests", "prompt_tokens", "uncached", "unrepeated", "answer_tokens")
    print(f"{'':56}" + "".join(f"{name:>15}" for name in ratios))
    for each in report["ratios"]:
        print(f"{each['naive'] + ' / ' + each['ours']:56}" + "".join(f"{each[name]:15}" for name in ratios))
    prompt = report["prompt"]
    sizes = prompt["capabilities"]
    other = f"{prompt['examples']} of worked examples, {prompt['query']} of the query, {prompt['around']} around"
    print(
        f"\nOne prompt of ours: {prompt['instructions']} tokens of instructions, {sum(sizes.values())} of {len(sizes)} "
        f"capabilities (their ids: {prompt['ids']}), {other} the messages."
    )
    for name, size in sorted(sizes.items(), key=lambda item: (-item[1], item[0])):
        print(f"{size:6}  {name}")

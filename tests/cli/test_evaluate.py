"""``incumbent evaluate`` from end to end: labels in, measures and comparisons out."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import git
import pytest
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML
from sklearn.metrics import matthews_corrcoef

from incumbent.classifier.embedded.backend import EmbeddedBackend
from incumbent.classifier.model import Finding, InferenceRequest
from incumbent.cli.schemas import schema
from incumbent.ledger.model import BRANCH, CORRECTIONS, CorrectionRecord, StoredCorrection
from incumbent.ledger.store import record_text
from incumbent.taxonomy.config import CONFIG_FILE
from incumbent.taxonomy.loading import TAXONOMY_FILE
from incumbent.text.compare import text_key
from tests.classifier.attacks.obedient_model import instance
from tests.classifier.attacks.prompt_parts import sent_data, sent_schema
from tests.classifier.factories import openai_settings
from tests.classifier.model_server import Model, ModelServer, Reply, failure
from tests.cli.conftest import Incumbent
from tests.factories import REPOSITORY

FAST = ("--resamples", "200")


@pytest.fixture
def here(platform: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The platform repository as the current folder."""
    monkeypatch.chdir(platform)
    return platform


@pytest.fixture
def other_config(here: Path) -> str:
    """A config whose classifier is fitted in another way."""
    text = (here / CONFIG_FILE).read_text(encoding="utf-8")
    changed = re.sub(r"ridge: [\d.]+", "ridge: 40", text)
    assert changed != text
    (here / "config" / "other.yaml").write_text(changed, encoding="utf-8")
    return "config/other.yaml"


def write(name: str, text: str) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.usefixtures("here")
def test_the_labels_of_the_repository_are_measured(incumbent: Incumbent) -> None:
    outcome = incumbent("evaluate", *FAST)
    assert outcome.code == 0, outcome.err
    assert re.match(r"macro phi 0\.\d\d \[0\.\d\d, 0\.\d\d\]: 6 capabilities, 35 queries\n", outcome.out)
    assert re.search(r"^dialog\.handover\t0\.\d\d\t\[.*\]\t6/34\t", outcome.out, re.MULTILINE)
    assert "\x1b" not in outcome.out
    given = incumbent("evaluate", *FAST, "--labels", "labels/survey.tsv", "labels/calls.yaml")
    assert given.out == outcome.out


@pytest.mark.usefixtures("here")
def test_json_fits_its_schema_and_phi_is_that_of_what_classify_says(incumbent: Incumbent) -> None:
    outcome = incumbent("evaluate", *FAST, "--labels", "labels/calls.yaml", "--json", "--save", "kept/p.json")
    found = outcome.json
    Draft202012Validator(schema("evaluate-output")).validate(found)
    assert incumbent("evaluate", *FAST, "--labels", "labels/calls.yaml", "--json").out == outcome.out
    kept = json.loads(Path("kept/p.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema("predictions")).validate(kept)
    labels = YAML(typ="safe").load(Path("labels/calls.yaml"))
    for name, item in found["capabilities"].items():
        actual, predicted = [], []
        for query in labels["queries"]:
            turns = query.get("turns") or [query["query"]]
            # For ruamel.yaml the key is the boolean.
            if name not in query.get("unknown", []):
                actual.append(name in query[True])
                predicted.append(name in kept["queries"][text_key(turns)]["true"])
        assert (item["support"], item["labelled"]) == (sum(actual), len(actual))
        assert item["phi"] == pytest.approx(matthews_corrcoef(actual, predicted), abs=1e-8)
        assert item["low"] <= item["phi"] <= item["high"]
    assert found["undefined"] == []
    assert found["macro_phi"] == pytest.approx(sum(item["phi"] for item in found["capabilities"].values()) / 6)


@pytest.mark.usefixtures("here")
def test_one_class_is_listed_and_has_no_phi(incumbent: Incumbent) -> None:
    write(
        "l.tsv", "# capabilities: dialog.upset, dialog.handover\nlabels\tquery\ndialog.upset\tI hate you!\n\tHello.\n"
    )
    found = incumbent("evaluate", *FAST, "--labels", "l.tsv", "--json").json
    assert found["undefined"] == ["dialog.handover"]
    assert list(found["capabilities"]) == ["dialog.upset"]
    assert found["one_class"]["dialog.handover"] | {"brier": 0, "ece": 0} == {
        "support": 0, "labelled": 2, "accuracy": 1.0, "always_false_accuracy": 1.0,
        "precision": None, "recall": None, "brier": 0, "ece": 0,
    }  # fmt: skip
    text = incumbent("evaluate", *FAST, "--labels", "l.tsv").out
    assert "  dialog.handover: 0 of 2 TRUE, accuracy 1.00\n" in text
    write("l.tsv", "labels\tquery\ndialog.upset\tI hate you!\n")
    found = incumbent("evaluate", *FAST, "--labels", "l.tsv", "--json").json
    assert (found["macro_phi"], found["low"], found["capabilities"]) == (None, None, {})
    assert incumbent("evaluate", *FAST, "--labels", "l.tsv").out.startswith("no capability has a phi: 0 cap")


def test_a_classifier_against_itself_differs_by_nothing(here: Path, incumbent: Incumbent) -> None:
    found = incumbent("evaluate", *FAST, "--against", CONFIG_FILE, "--json").json
    Draft202012Validator(schema("evaluate-output")).validate(found)
    nothing = {"difference": 0.0, "low": 0.0, "high": 0.0}
    assert found["against"]["macro_phi"] == nothing
    assert all(item == nothing for item in found["against"]["capabilities"].values())
    assert found["against"]["measures"]["capabilities"] == found["capabilities"]


def test_a_classifier_against_another_by_config_or_by_its_kept_predictions(
    other_config: str, incumbent: Incumbent
) -> None:
    assert incumbent("evaluate", *FAST, "--config", other_config, "--save", "p.json").code == 0
    found = incumbent("evaluate", *FAST, "--against", other_config, "--json").json["against"]
    kept = incumbent("evaluate", *FAST, "--against", "p.json", "--json").json["against"]
    assert found.pop("name") == other_config
    assert kept.pop("name") == "p.json"
    assert found == kept
    assert found["macro_phi"]["difference"] != 0
    assert found["measures"]["classifier"]["prompt"] != ""
    back = incumbent("evaluate", *FAST, "--predictions", "p.json", "--against", CONFIG_FILE, "--json").json["against"]
    assert back["macro_phi"]["difference"] == -found["macro_phi"]["difference"]
    text = incumbent("evaluate", *FAST, "--against", "p.json").out
    assert re.search(r"Against p\.json: macro phi [+-]0\.\d{3} \[[+-]0\.\d{3}, [+-]0\.\d{3}\], (not )?distinct", text)


def test_kept_predictions_are_measured_without_any_classifier(
    here: Path, incumbent: Incumbent, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = incumbent("evaluate", *FAST, "--save", "p.json")
    monkeypatch.setattr(EmbeddedBackend, "infer", lambda *_: pytest.fail("a classifier was asked"))
    assert incumbent("evaluate", *FAST, "--predictions", "p.json").out == asked.out
    assert incumbent("evaluate", "--predictions", "p.json", "--save", "q.json").code == 2


def test_queries_without_a_prediction_make_it_incomplete(
    here: Path, incumbent: Incumbent, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("l.tsv", "labels\tquery\ndialog.upset\tI hate you!\n\tHello.\n\tHello again.\n")
    incumbent("evaluate", "--labels", "l.tsv", "--save", "p.json")
    write("l.tsv", "labels\tquery\ndialog.upset\tI hate you!\n\tHello.\n\tNew here.\n")
    outcome = incumbent("evaluate", *FAST, "--labels", "l.tsv", "--predictions", "p.json", "--json")
    assert outcome.code == 3
    assert outcome.json["queries"] == 2
    assert outcome.json["unclassified"] == [{"file": "l.tsv", "line": 4}]
    assert "l.tsv:4" in outcome.err

    infer = EmbeddedBackend.infer

    def falling_short(self: EmbeddedBackend, requests: Sequence[InferenceRequest]) -> Iterator[tuple[int, Finding]]:
        for place, finding in infer(self, requests):
            yield place, Finding(shortfall="no sample is valid") if "Hello." in requests[place].turns else finding

    monkeypatch.setattr(EmbeddedBackend, "infer", falling_short)
    outcome = incumbent("evaluate", *FAST, "--labels", "l.tsv", "--json")
    assert (outcome.code, outcome.json["unclassified"]) == (3, [{"file": "l.tsv", "line": 3}])
    assert "1 query: l.tsv:3 (no sample is valid); run again" in outcome.err
    write("l.tsv", "labels\tquery\n?dialog.upset,dialog.handover\tHello.\n")
    outcome = incumbent("evaluate", *FAST, "--labels", "l.tsv", "--json")
    assert (outcome.code, outcome.out) == (3, "")


def ask_a_model(here: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch, requests: int) -> str:
    """A config that names ``server``, for so many ``requests``; three labelled queries in ``l.tsv``."""
    monkeypatch.setenv("TEST_KEY", "k")
    monkeypatch.setenv("INCUMBENT_CACHE", str(here / "cache"))
    write("l.tsv", "labels\tquery\ndialog.upset\tI hate you!\n\tHello.\ndialog.upset\tGo away!\n")
    config = YAML(typ="safe").load(here / CONFIG_FILE)
    budget = {"requests": requests, "tokens": 1_000_000}
    settings = openai_settings(endpoint=server.endpoint, in_flight=1, budget=budget)
    config["classifier"] |= {"backend": "openai", "openai": settings.model_dump()}
    write("config/model.yaml", json.dumps(config))
    return "config/model.yaml"


def upset(body: dict[str, Any]) -> object:
    """A model that finds everybody upset but those who say hello."""
    polite = "Hello" in sent_data(body)
    return instance(sent_schema(body), lambda path: "upset" in path and not polite)


@pytest.mark.parametrize(
    ("refusals", "requests", "code", "message", "measured", "made"),
    [
        (0, 100, 0, "", 3, 4),
        (0, 3, 3, "budget of 3 requests is used up", 2, 3),
        (1, 100, 3, "failed (HTTP 503)", 2, 4),
        (3, 100, 4, "failed (HTTP 503)", 0, 5),
    ],
    ids=["all well", "budget", "endpoint failed on one", "endpoint failed on all"],
)
def test_what_was_measured_before_the_endpoint_failed_is_shown(
    here: Path,
    incumbent: Incumbent,
    monkeypatch: pytest.MonkeyPatch,
    refusals: int,
    requests: int,
    code: int,
    message: str,
    measured: int,
    made: int,
) -> None:
    model = Model(upset, log_probabilities=True)

    def reply(body: dict[str, Any], number: int) -> Reply:
        return model(body, number) if number <= 3 - refusals else failure(503)

    with ModelServer(reply) as server:
        config = ask_a_model(here, server, monkeypatch, requests)
        outcome = incumbent("evaluate", *FAST, "--labels", "l.tsv", "--config", config, "--json", "--save", "p.json")
        assert len(server.requests) == made
    assert outcome.code == code, outcome.err
    assert f"asked a model: {made} requests (1 of them to find out" in outcome.err
    assert message in outcome.err
    assert (json.loads(outcome.out)["queries"] if outcome.out else 0) == measured
    assert Path("p.json").exists() == bool(measured)
    if code == 0:
        assert outcome.json["capabilities"]["dialog.upset"]["phi"] == 1.0


@pytest.mark.usefixtures("here")
def test_with_an_agent_its_facts_are_labelled_too(incumbent: Incumbent) -> None:
    write("l.tsv", "labels\tquery\nbackend.lookup\tShow me the last three payments on my card.\n\tHello.\n")
    refused = incumbent("evaluate", "--labels", "l.tsv")
    assert (refused.code, "--agent DIR" in refused.err) == (1, True)
    agent = "eval_sets/tarnbeck-bank/card-line"
    found = incumbent("evaluate", *FAST, "--labels", "l.tsv", "--agent", agent, "--save", "p.json", "--json").json
    assert found["capabilities"]["backend.lookup"]["phi"] == 1.0
    other = incumbent("evaluate", "--labels", "labels/survey.tsv", "--predictions", "p.json")
    assert (other.code, "another agent" in other.err) == (2, True)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--labels", "none.tsv", "lost.tsv"], 1, "2 faults in the input"),
        (["--labels", "taxonomy"], 2, "is a directory"),
        (["labels/survey.tsv"], 2, "--labels labels/survey.tsv"),
        (["--name", "x"], 2, "NAME=CAPABILITY"),
        (["--name", "x=dialog.upst"], 2, "perhaps you meant 'dialog.upset'"),
        (["--name", "x=dialog.upset", "--name", "x=dialog.handover"], 2, "two capabilities"),
        (["--against", "config/none.yaml"], 1, "config/none.yaml"),
        (["--against", "none.json"], 1, "none.json"),
        (["--predictions", "taxonomy/none.json"], 1, "cannot be read"),
        (["--resamples", "1"], 2, "--resamples"),
        (["--save", "taxonomy/taxonomy.yaml/p.json"], 4, "cannot be written"),
        (["--ledger"], 2, "git fetch origin incumbent/ledger"),
    ],
)
def test_what_cannot_be_followed_says_why(arguments: list[str], code: int, message: str, incumbent: Incumbent) -> None:
    outcome = incumbent("evaluate", *arguments)
    assert outcome.code == code, outcome.err
    assert message in outcome.err


def test_without_labels_there_is_nothing_to_measure(here: Path, incumbent: Incumbent) -> None:
    for path in (here / "labels").iterdir():
        path.unlink()
    assert "there are no labels" in incumbent("evaluate").err
    write("l.yaml", "labels: 1\nqueries: []\n")
    outcome = incumbent("evaluate", "--labels", "l.yaml")
    assert (outcome.code, "nothing is labelled there" in outcome.err) == (1, True)


# The ledger


def corrected(folder: Path, reference: str, texts: Mapping[str, Mapping[str, bool | None]]) -> None:
    """A commit on the ledger's branch with these corrections, by digest."""
    said = {
        key: {name: StoredCorrection(value=value, by="robin", comment=1, said="0" * 24) for name, value in tags.items()}
        for key, tags in texts.items()
    }
    with git.Repo(folder) as repository:
        path = folder / "record.json"
        path.write_text(record_text(CorrectionRecord(texts=said)), encoding="utf-8")
        blob = repository.git.hash_object("-w", str(path))
        path.unlink()
        index = folder / ".git" / "ledger-index"
        with repository.git.custom_environment(GIT_INDEX_FILE=str(index)):
            repository.git.update_index("--add", "--cacheinfo", f"100644,{blob},{CORRECTIONS}")
            tree = repository.git.write_tree()
        commit = repository.git.commit_tree(tree, "-m", "Corrections")
        repository.git.update_ref(reference, commit)


def test_corrections_in_the_ledger_are_labels(here: Path, incumbent: Incumbent) -> None:
    person = text_key(["put me through to a  HUMAN being, please."])
    german = text_key(["Ich habe meine Karte verloren, bitte sperren Sie sie."])
    corrected(
        here,
        f"refs/heads/{BRANCH}",
        {
            person: {"dialog.handover": True, "dialog.upset": None, "gone.capability": True},
            german: {"dialog.handover": False},
            text_key(["nowhere"]): {"dialog.handover": True},
        },
    )
    outcome = incumbent("evaluate", *FAST, "--ledger", "--json")
    assert outcome.code == 0, outcome.err
    assert {name: item["labelled"] for name, item in outcome.json["capabilities"].items()} == {"dialog.handover": 2}
    assert "queries that people corrected: 2\n" in outcome.err
    assert "left out: corrections of texts that are not here any more: 1" in outcome.err
    assert "gone.capability" in outcome.err
    both = incumbent("evaluate", *FAST, "--ledger", "--labels", "labels/calls.yaml", "--json").json
    assert both["capabilities"]["dialog.handover"]["labelled"] == 27

    corrected(here, f"refs/remotes/origin/{BRANCH}", {person: {"dialog.handover": False}})
    found = incumbent("evaluate", *FAST, "--ledger", "--json").json
    assert found["undefined"] == ["dialog.handover"]


def test_corrections_follow_a_capability_through_several_renames(here: Path, incumbent: Incumbent) -> None:
    file = here / TAXONOMY_FILE
    names = ["dialog.handover", "dialog.transfer", "dialog.person"]
    for step, (old, new) in enumerate(pairwise(names), 1):
        with git.Repo(here) as repository:
            repository.git.add(all=True)
            repository.git.commit("--allow-empty", "-m", "The taxonomy as it was")
        text = re.sub(r"(?m)^    was: .*\n", "", file.read_text(encoding="utf-8"))
        text = text.replace(f"  - id: {old}\n", f"  - id: {new}\n    was: {old}\n")
        text = re.sub(r"(?m)^retired: .*", f"retired: [{', '.join(names[:step])}]", text)
        file.write_text(re.sub(r"(?m)^version: .*", f"version: 7.{step}.0", text), encoding="utf-8")
        table = here / "taxonomy" / "exemplars" / "exemplars.tsv"
        rows = table.read_text(encoding="utf-8").replace(f"handover={old}", f"handover={new}")
        table.write_text(rows, encoding="utf-8")
    person = text_key(["put me through to a  HUMAN being, please."])
    german = text_key(["Ich habe meine Karte verloren, bitte sperren Sie sie."])
    said = {person: {"dialog.handover": True}, german: {"dialog.transfer": False}}
    corrected(here, f"refs/heads/{BRANCH}", said)
    outcome = incumbent("evaluate", *FAST, "--ledger", "--json")
    assert outcome.code == 0, outcome.err
    assert {name: item["labelled"] for name, item in outcome.json["capabilities"].items()} == {"dialog.person": 2}


def test_a_mangled_ledger_is_a_fault(here: Path, incumbent: Incumbent) -> None:
    corrected(here, f"refs/heads/{BRANCH}", {"0" * 24: {"dialog.upset": True}})
    outcome = incumbent("evaluate", "--ledger")
    assert (outcome.code, "nothing is labelled there" in outcome.err) == (1, True)


# Documentation, and labels of others


def test_the_formats_in_the_documentation_are_read(here: Path, incumbent: Incumbent) -> None:
    page = (REPOSITORY / "docs" / "evaluation.md").read_text(encoding="utf-8")
    (in_yaml,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    in_tsv, *_ = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    found = [
        incumbent("evaluate", *FAST, "--labels", write(name, text), "--json").json
        for name, text in (("l.yaml", in_yaml), ("l.tsv", in_tsv))
    ]
    assert [item["pooled"]["labels"] for item in found] == [3, 3]


NAMES = {
    "attach_audio": "request.attachments.audio",
    "attach_file": "request.attachments.file",
    "attach_image": "request.attachments.image",
    "branching": "execution.orchestration.branching",
    "format_structured": "response.format.structured",
    "format_table": "response.format.table",
    "format_urls": "response.format.urls",
    "multi_turn": "execution.orchestration.multi-turn",
    "output_large": "execution.output-size.large",
    "parallel_calls": "execution.orchestration.parallel-calls",
    "sequential_chain": "execution.orchestration.sequential-chain",
    "tone_frustrated": "request.tone.frustrated",
}


@pytest.mark.skipif("INCUMBENT_CORPUS" not in os.environ, reason="INCUMBENT_CORPUS names no folder")
def test_a_real_file_with_names_of_its_own_is_measured(incumbent: Incumbent) -> None:
    file = Path(os.environ["INCUMBENT_CORPUS"], "labels", "intent_queries.tsv")
    call = ("evaluate", "--repo", REPOSITORY, *FAST, "--labels", file, "--json")
    refused = incumbent(*call)
    assert (refused.code, "error: 12 faults in the input" in refused.err) == (1, True)
    outcome = incumbent(*call, *(word for name, id in NAMES.items() for word in ("--name", f"{name}={id}")))
    assert set(outcome.json["capabilities"]) == set(NAMES.values())
    assert {item["labelled"] for item in outcome.json["capabilities"].values()} == {147}

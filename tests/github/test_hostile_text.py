"""Hostile text in every field that a stranger controls: a report that quotes it is built like any other.

Markdown is judged by a parser: what it makes of the report, and all that stands outside code spans, must not depend on
what is quoted.  Each place is tried with a few texts; all of them are tried on the escaping that it calls
(`tests/report/test_escaping.py`).
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token
from pydantic import ValidationError

from incumbent.cli.ci import _report
from incumbent.cli.output import log
from incumbent.curator.store import RegressionSet
from incumbent.errors import Problem
from incumbent.files.git import ChangedFile
from incumbent.github.check import PullRequestLabel
from incumbent.github.commands import Command, parse
from incumbent.github.facts import Analysis, ChangedEntryFile, QueryFacts, SubmissionFacts
from incumbent.github.models import AddLabels, CreateComment, PostCheck, React, RemoveLabel, WriteLedger
from incumbent.github.publication import Publication
from incumbent.github.publish_plan import PublishPlan
from incumbent.intake.query import Setup
from incumbent.ledger.model import PullRequestRecord
from incumbent.ledger.store import record_text
from incumbent.pipeline.submission import Submission
from incumbent.report.escaping import visible
from incumbent.text.digests import digest
from tests.factories import make_entry
from tests.github.hostile import FEW, HALF_CHARACTER, HARMLESS
from tests.github.scenes import PAIR, Hub, make_analysis, make_platform, make_query, make_releases, reworded

MARKER = re.compile(r"<!-- incumbent:verdicts [0-9a-f]{24} -->")
REPLY = re.compile(r"<!-- incumbent:reply [0-9]+ [0-9a-f]{24} -->")
BREAK = "\u200b"
UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
MOST_BACKTICKS = 80
"""GitHub's parser (cmark-gfm) takes longer runs of backticks for text."""

LEADER = {"a": 0.85, "b": 0.85}
"""Comes before ``PAIR``, whatever its id."""
SETTLED = "a question that the set has known for a year"

LIVE = {
    "mention": re.compile(r"@[\w-]"),
    "reference": re.compile(r"#\d|\bGH-\d", re.IGNORECASE),
    "closing keyword": re.compile(r"\b(close[sd]?|fix(e[sd])?|resolve[sd]?):?\s+\S*#\d", re.IGNORECASE),
    "commit": re.compile(r"(?<![\w-])[0-9a-f]{7,40}\b"),
    "address": re.compile(r"://|\bwww\.|\bmailto:|\bxmpp:|\S@\S+\.\S", re.IGNORECASE),
    "emoji": re.compile(r":[a-z0-9_+-]+:"),
    "mathematics": re.compile(r"\$"),
    "footnote": re.compile(r"\[\^"),
    "task": re.compile(r"^\[[ xX]\] "),
    "markup": re.compile(r"[<>`]|\]\("),
}
OUR_HTML = {"<br>", "<sub>", "</sub>"}
OUR_BLOCKS = {"</details>"}

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


@dataclass(frozen=True)
class Written:
    """All that one scene has us write."""

    comments: tuple[str, ...]
    summary: str
    check: PostCheck
    ledger: WriteLedger
    plan: PublishPlan


def named(text: str, prefix: str, suffix: str = "") -> str:
    """``text`` in the name of a file, which can hold neither a slash nor a null, nor be long."""
    return prefix + text.replace("/", "_").replace("\0", "_")[:200] + suffix


def worded(text: str) -> str:
    """``text`` where at least one visible character is asked for."""
    return text if visible(text) else f"{text}."


def facts(text: str) -> Analysis:
    """An eval set whose every part that a stranger writes is ``text``.

    No two queries share it, since verdicts depend on likeness.
    """
    file = named(text, "eval_sets/", "/evals.yaml")
    queries: tuple[QueryFacts, ...] = (
        make_query("q01", {"d": 0.9}, text=text, line=3),
        two_turns(make_query(text, LEADER, text="a query whose name is hostile", line=4), text),
        make_query("q03", PAIR, line=5),
        make_query("q04", {"a": 0.7}, line=6),
        make_query(f"{text} unclassified", None, text="left without a verdict", line=7),
        make_query(f"{text} elsewhere", {}, text="exercises nothing", line=8),
        make_query(f"{text} settled", {"b": 0.9}, text=SETTLED, line=9),
        make_query(f"{text} edited", {"b": 0.9}, text="written anew and quite unlike before", line=10),
    )
    calls = {"expected_tools": [f"tool {text}", f"other {text}"]}
    setup = Setup(tenant=f"tenant {text}", connectors=(f"connector {text}",), fixtures=(f"fixture {text}",))
    queries = tuple(reworded(query, file=file, expected=calls, setup=setup) for query in queries)
    off = queries[3].classification
    assert off is not None
    strange = replace(off, off_taxonomy=(worded(text),))
    queries = (*queries[:3], queries[3].model_copy(update={"classification": strange}), *queries[4:])
    row = Problem(file=file, line=12, message=text, fix=text)
    submission = SubmissionFacts(
        about=Submission(
            customer=text,
            agent=text,
            folder=named(text, "eval_sets/"),
            moved_from=(text, text),
            problems=(row,),
            notes=(Problem(file=file, line=None, message=f"tool {text}: {text}", fix=text),),
            tools=(f"tool {text}".strip(),),
        ),
        specification="s",
        queries=queries,
    )
    return make_analysis(
        queries=(),
        problems=(
            Problem(file=file, line=13, message=text, fix=text),
            Problem(file=text, line=None, message=text, fix=text),
        ),
        set_changes=(
            ChangedEntryFile(file=ChangedFile(named(text, "regression_set/", ".yaml"), "deleted"), buried=False),
            ChangedEntryFile(
                file=ChangedFile("regression_set/new.yaml", "renamed", named(text, "regression_set/", "2.yaml")),
                buried=False,
            ),
        ),
        submissions=(submission,),
        touches=("eval_sets", "regression_set", "taxonomy"),
    )


def two_turns(query: QueryFacts, text: str) -> QueryFacts:
    return reworded(query, turns=(*query.query.turns, text, text, text))


def make_hub(text: str) -> Hub:
    """A pull request of an author called ``text``, to a set that knows one of its queries and another's former text."""
    platform = make_platform(curators=["cora", worded(text)[:90]])
    submission = Submission(customer=text, agent=text, folder="x", queries=())
    settled, edited = (submission.entry_id(f"{text} {word}") for word in ("settled", "edited"))
    entries = dict(platform.regression_set.entries)
    entries[settled] = make_entry(settled, {"b": 0.9}, text=SETTLED)
    entries[edited] = make_entry(edited, {"b": 0.9}, text="something else before")
    return Hub(
        platform=replace(platform, regression_set=RegressionSet(entries, {}, {})),
        releases=make_releases(entries, dict.fromkeys(entries, "+-+-")),
        author="mara",
    )


def write(hub: Hub, analysis: Analysis) -> Written:
    plan = hub.plan(analysis)
    (check,) = [item for item in plan.operations if isinstance(item, PostCheck)]
    (ledger,) = [item for item in plan.operations if isinstance(item, WriteLedger)]
    return Written(
        comments=tuple(item.body for item in plan.operations if isinstance(item, CreateComment)),
        summary=plan.summary,
        check=check,
        ledger=ledger,
        plan=plan,
    )


def undecided(text: str) -> Written:
    """The first review, with a curator who speaks before anything is displayed and a stranger called ``text``."""
    hub = make_hub(text)
    hub.say("cora", "/incumbent accept all")
    hub.say(f"{text} the stranger", "/incumbent run")
    return write(hub, facts(text))


def decided(text: str) -> Written:
    """A review under decisions of a curator called ``text`` for the reason ``text``, one of them void."""
    hub, analysis = make_hub(text), facts(text)
    judgement = hub.plan(analysis).judgement
    login = worded(text)[:90]
    comment = hub.say(login, orders(sayable(text)))
    decisions = [
        {
            "entry": judgement.entries[name],
            "action": action,
            "content": judgement.contents[judgement.entries[name]] if name != "q01" else "0" * 24,
            "verdict": "0" * 24,
            "codes": worded(text),
            "by": login,
            "comment": comment,
            "said": digest(orders(sayable(text))),
            "at": "2026-11-21T10:00:00Z",
            "reason": sayable(text),
        }
        for name, action in ((text, "accept"), ("q04", "reject"), ("q01", "accept"))
    ]
    record = PullRequestRecord.model_validate(
        {"pull_request": 7, "head": analysis.judged.head, "decisions": decisions, "cursor": comment}, strict=False
    )
    hub.ledger["pull_requests/7.json"] = record_text(record)
    return write(hub, analysis)


def orders(reason: str) -> str:
    return f"/incumbent accept all: {reason}\n/incumbent reject all: {reason}"


def sayable(text: str) -> str:
    """``text`` as a reason, where a command can be given with it; not every line is read as one."""
    reason = " ".join(text.split())
    said = [item.reason if isinstance(item, Command) else None for item in parse(orders(reason), ())]
    return reason if said == [reason, reason] else "we need them"


SCENES = {"undecided": undecided, "decided": decided}


@cache
def scene_of(inputs: str, text: str) -> Written:
    return SCENES[inputs](text)


def harmless(inputs: str) -> Written:
    return scene_of(inputs, HARMLESS)


# Markdown as a parser sees it ------------------------------------------------------------------------------------


def leaves(tokens: Sequence[Token]) -> list[Token]:
    return [
        leaf for token in tokens for leaf in (token.children if token.type == "inline" and token.children else [token])
    ]


def skeleton(markdown: str) -> list[tuple[Any, ...]]:
    """What the parser makes of ``markdown``, but for what stands in code spans and in the marker."""
    shape: list[tuple[Any, ...]] = []
    for token in leaves(PARSER.parse(markdown)):
        content = "" if token.type == "code_inline" else re.sub(MARKER, "", token.content)
        shape.append((token.type, token.tag, token.nesting, token.level, token.markup * (token.tag != "code"), content))
        shape.append(tuple(sorted(token.attrs.items())))
    return shape


def dead(markdown: str, marker: re.Pattern[str] | None) -> None:
    """Nothing in ``markdown`` is alive but what we put there."""
    lines = markdown.split("\n")
    if marker is not None:
        assert marker.fullmatch(lines[0])
        assert not marker.search("\n".join(lines[1:]))
        markdown = "\n".join(lines[1:])
    assert "<!--" not in markdown
    strange = {sign for sign in markdown if unicodedata.category(sign) in UNSEEN} - {"\n", BREAK}
    assert not strange
    assert max(map(len, re.findall("`+", markdown))) <= MOST_BACKTICKS
    for token in leaves(PARSER.parse(markdown)):
        if token.type == "text":
            for what, pattern in LIVE.items():
                assert not pattern.search(token.content), f"{what} in {token.content!r}"
        elif token.type == "html_inline":
            assert token.content in OUR_HTML
        elif token.type == "html_block":
            block = token.content.strip()
            assert block in OUR_BLOCKS or re.fullmatch(r"<details><summary>[\w ()]+</summary>", block)
        assert token.type not in {"image", "link_open", "fence", "code_block", "hardbreak", "hr"}


def plain_line(text: str) -> None:
    """``text`` is shown as it is: on one line, without signs that nobody sees."""
    assert not [sign for sign in text if unicodedata.category(sign) in UNSEEN]


def in_release_runs(text: str) -> str:
    """What the summary says of releases, once a curator has accepted all queries."""
    hub, analysis = make_hub(text), facts(text)
    hub.review(analysis)
    hub.say("cora", "/incumbent accept all: we need them")
    (line,) = [line for line in hub.review(analysis).summary.splitlines() if line.startswith("> In release runs")]
    return line


@pytest.mark.parametrize("name", FEW)
def test_what_release_runs_say_names_capabilities_alone(name: str) -> None:
    said = "all present tests of *A* and *B* flap. What is admitted here covers this, too."
    assert in_release_runs(FEW[name]) == f"> In release runs {said}"


@pytest.mark.parametrize("inputs", SCENES)
@pytest.mark.parametrize("name", FEW)
def test_nothing_comes_alive_on_the_pull_request(name: str, inputs: str) -> None:
    found, expected = scene_of(inputs, FEW[name]), harmless(inputs)
    assert len(found.comments) == len(expected.comments)
    for body, twin in zip(found.comments, expected.comments, strict=True):
        sticky = twin.startswith("<!-- incumbent:verdicts")
        dead(body, MARKER if sticky else REPLY)
        assert skeleton(REPLY.sub("", body)) == skeleton(REPLY.sub("", twin))
        assert body.count("\n") == twin.count("\n")
    for text, twin in ((found.summary, expected.summary), (found.check.summary, expected.check.summary)):
        dead(text, None)
        assert skeleton(text) == skeleton(twin)


@pytest.mark.parametrize("inputs", SCENES)
@pytest.mark.parametrize("name", FEW)
def test_nothing_comes_alive_in_the_check_its_annotations_and_the_labels(name: str, inputs: str) -> None:
    text = FEW[name]
    found, expected = scene_of(inputs, text), harmless(inputs)
    assert (found.check.title, found.check.conclusion) == (expected.check.title, expected.check.conclusion)
    assert len(found.check.annotations) == len(expected.check.annotations)
    # Where ids sort elsewhere, annotations of the same rank are in another order.
    assert sorted(item.line for item in found.check.annotations) == sorted(
        item.line for item in expected.check.annotations
    )
    for item in found.check.annotations:
        assert item.path == named(text, "eval_sets/", "/evals.yaml")
        plain_line(item.title)
        message = item.message.split("\nFix: ") if item.level == "failure" else [item.message]
        assert len(message) == (2 if item.level == "failure" else 1)
        for line in message:
            plain_line(line)
    for operation in found.plan.operations:
        if isinstance(operation, AddLabels):
            assert set(operation.names) <= set(PullRequestLabel)
        assert not isinstance(operation, RemoveLabel)
        if isinstance(operation, React):
            assert operation.reaction == "confused"


@pytest.mark.parametrize("inputs", SCENES)
@pytest.mark.parametrize("name", FEW)
def test_the_ledger_and_its_commit_hold_no_foreign_text_but_reasons(name: str, inputs: str) -> None:
    text = FEW[name]
    found, expected = scene_of(inputs, text), harmless(inputs)
    assert found.ledger.message == expected.ledger.message == f"Pull request 7 at {'1' * 12}"
    assert [path for path, _ in found.ledger.files] == [path for path, _ in expected.ledger.files]
    ((path, content),) = [item for item in found.ledger.files if item[0].startswith("pull_requests/")]
    assert path == "pull_requests/7.json"
    assert content is not None
    record = PullRequestRecord.model_validate_json(content, strict=False)
    assert [item.reason for item in record.decisions] == ([sayable(text)] * 3 if inputs == "decided" else [])
    kept = json.loads(content)
    theirs = {worded(text), worded(text)[:90], sayable(text)}
    assert all(value in theirs or re.fullmatch(r"[\w\-./: +]*", value) for value in strings(kept))


def strings(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for key, item in value.items() for text in (key, *strings(item))]
    if isinstance(value, list):
        return [text for item in value for text in strings(item)]
    return [value] if isinstance(value, str) else []


def commands(text: str) -> list[str]:
    return [
        f"/incumbent {text}",
        f"/incumbent accept {text}",
        f"/incumbent accept q02 {text}",
        f"/incumbent reject q02 {text}",
        f"/incumbent reject q02 : {text}",
        f"/incumbent pin q03 {text}\n/incumbent unpin {text}",
        f"{text}\n/incumbent accept q99",
    ]


@pytest.mark.parametrize("name", [*FEW, "half"])
def test_nothing_comes_alive_in_what_is_answered_to_a_comment(name: str) -> None:
    text = FEW.get(name, HALF_CHARACTER)
    hub = Hub()
    hub.review()
    for body in commands(text):
        hub.say("cora", body)
    hub.review()
    sticky, *replies = hub.ours
    dead(sticky, MARKER)
    assert len(replies) > 1
    for reply in replies:
        dead(reply, REPLY)
        kinds = {token.type for token in PARSER.parse(reply.split("\n", 1)[1])}
        assert kinds <= {
            f"{kind}_{end}" for kind in ("paragraph", "bullet_list", "list_item") for end in ("open", "close")
        } | {"inline"}


@pytest.mark.parametrize("length", range(1, 160, 20))
def test_a_long_answer_is_cut_between_its_lines(length: int) -> None:
    ids = [f"q{number:04d}-" + "x" * length + "@octocat" + "\u4e00" * 60 for number in range(400)]
    hub = Hub()
    hub.say("cora", f"/incumbent accept {ids[0]}..{ids[-1]}")
    plan = hub.plan(make_analysis([make_query(id, None, text=f"something of its own {id}") for id in ids]))
    (reply,) = [
        item.body
        for item in plan.operations
        if isinstance(item, CreateComment) and item.body.startswith("<!-- incumbent:r")
    ]
    assert 20_000 < len(reply.encode()) <= 65_536
    dead(reply, REPLY)
    assert re.search(r"\n- and [0-9]+ more\.\n$", reply)


def test_half_a_character_is_no_fact() -> None:
    with pytest.raises(ValidationError):
        facts(HALF_CHARACTER)


# The log, the outputs and the job summary --------------------------------------------------------------------------


def alive_in_a_log(line: str) -> bool:
    """Whether GitHub's runner may take ``line`` for a command: at its start once trimmed, or the old kind anywhere."""
    return line.strip().startswith("::") or "##[" in line or "::" in line


@pytest.mark.parametrize("name", FEW)
def test_nothing_comes_alive_in_log_outputs_and_job_summary(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = FEW[name]
    shown = {}
    for dry_run in (True, False):
        for place, quoted in (("found", text), ("expected", HARMLESS)):
            written = scene_of("decided", quoted)
            publication = Publication(
                operations=written.plan.operations,
                result=written.plan.result,
                summary=written.plan.summary,
                plan=written.plan,
            )
            folder = tmp_path / f"{place}-{dry_run}"
            folder.mkdir()
            environment = {
                "GITHUB_OUTPUT": str(folder / "output"),
                "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
            }
            _report(publication, environment, dry_run, as_json=False)
            shown[place] = capsys.readouterr()
        assert not any(alive_in_a_log(line) for line in re.split(r"[\r\n]", shown["found"].out))
        lengths = re.compile(r"[\d,]+ characters")
        assert lengths.sub("", shown["found"].out) == lengths.sub("", shown["expected"].out)
        assert shown["found"].err == ""
        content = (tmp_path / f"found-{dry_run}" / "output").read_bytes()
        assert content.isascii()
        lines = content.decode().split("\n")
        assert [line.split("=")[0] for line in lines] == ["conclusion", "report", ""]
        assert lines[0] == "conclusion=failure"
        assert not [sign for line in lines for sign in line if ord(sign) < 0x20]
        report = json.loads(lines[1].split("=", 1)[1])
        assert report["review"]["submissions"][0]["customer"] == text
        dead((tmp_path / f"found-{dry_run}" / "summary.md").read_text(encoding="utf-8"), None)


@pytest.mark.parametrize("name", [*FEW, "half"])
def test_no_line_of_a_log_is_a_command(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = FEW.get(name, HALF_CHARACTER)
    log(text)
    log(f"only pull requests to {text} are curated")
    out = capsys.readouterr().out
    assert not any(alive_in_a_log(line) for line in re.split(r"[\r\n]", out))
    assert not [sign for sign in out if unicodedata.category(sign) in UNSEEN and sign not in f"\n\t{BREAK}"]

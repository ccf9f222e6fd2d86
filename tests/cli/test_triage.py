"""``incumbent triage``, also in processes of its own: what it reads, masks, refuses, and how it goes on."""

from __future__ import annotations

import csv
import gzip
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from incumbent.cli.schemas import schema
from incumbent.files.snapshot import WorkingTree
from incumbent.taxonomy.loading import load_taxonomy
from tests.cli.conftest import Incumbent
from tests.factories import REPOSITORY
from tests.triage.quick_platform import quick_platform

duckdb = pytest.importorskip("duckdb")

AGENT = "examples/customers/northwind-tracker/tracker"
# So many kills in a run; more with INCUMBENT_KILLS.
KILLS = int(os.environ.get("INCUMBENT_KILLS", "3"))
SETTINGS = "{shard_rows: 10}"
SECRET = "ghp_" + "a7Kq9ZxW2mVb4RtY8nLp" + "6CdF3hJs1GeU5oTi"
ADDRESS = "ellen.marsh@fabrikam.org"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A platform that classifies without an embedding, some rows at a time."""
    monkeypatch.chdir(quick_platform(tmp_path, SETTINGS))
    return tmp_path


@cache
def single_turns() -> list[str]:
    return [row.turns[0] for row in load_taxonomy(WorkingTree(REPOSITORY)).exemplars if len(row.turns) == 1]


def traffic(size: int) -> list[dict[str, object]]:
    draw = random.Random(7)
    chosen = draw.sample([text for text in single_turns() if len(text) > 60], size)
    rows: list[dict[str, object]] = [{"id": f"t{place}", "query": text} for place, text in enumerate(chosen)]
    rows += [{"query": f"  {text.upper()} "} for text in chosen[:10]]
    rows += [{"query": f"{text}!"} for text in chosen[10:15]]
    rows.append({"query": [f"Write to {ADDRESS} that the printer is out of paper.", "Then file it."]})
    return rows


def write_lines(path: Path, rows: list[dict[str, object]], *broken: str) -> None:
    lines = [json.dumps(row) for row in rows]
    path.write_text("\n".join([*lines, *broken, ""]), encoding="utf-8")


def content(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.usefixtures("root")
def test_duplicates_are_counted_and_what_is_personal_is_written_nowhere(incumbent: Incumbent) -> None:
    write_lines(Path("t.jsonl"), traffic(60), "{", '{"query": ""}', '{"query": 5}', "[]")
    arguments = ["triage", "t.jsonl", "--agent", AGENT, "--out", "out", "--processes", "1", "--json"]
    outcome = incumbent(*arguments)
    assert outcome.code == 1, outcome.err
    assert "t.jsonl:77: the line is no JSON" in outcome.err
    said = json.loads(outcome.out)
    Draft202012Validator(schema("triage-output")).validate(said)
    assert (said["rows"], said["unreadable"], said["texts"], said["representatives"]) == (76, 4, 66, 61)
    assert (said["unclassified"], said["usage"]) == (0, None)
    assert said["shortlist"]
    for folder in ("out", "out.work"):
        for name, held in content(Path(folder)).items():
            assert ADDRESS.encode() not in held, name
    connection, table = duckdb.connect(), "'out.work/representatives/*.parquet'"
    texts = connection.execute(f"SELECT turns FROM {table}").fetchall()
    assert not any(ADDRESS in turn for (turns,) in texts for turn in turns)
    masked = connection.execute(f"SELECT turns, masked FROM {table} WHERE turns[2] = 'Then file it.'").fetchall()
    assert masked == [(["Write to [e-mail 1] that the printer is out of paper.", "Then file it."], ["e-mail"])]
    assert connection.execute(f"SELECT sum(exact), sum(near) FROM {table}").fetchall() == [(71, 5)]
    repeated = connection.execute("SELECT * FROM 'out/duplicates.parquet'").fetchall()
    # The ten in capitals have the text of a row before them, those with a sign at the end nearly so.
    wanted = [(61 + place, f"t{place}", "exact" if place < 10 else "near") for place in range(15)]
    assert repeated == [("t.jsonl", row, id, kind) for row, id, kind in wanted]
    listed = yaml.safe_load(Path("out/eval_set.yaml").read_text(encoding="utf-8"))["queries"]
    assert [query["id"] for query in listed] == [each["id"] for each in said["shortlist"]]

    again = incumbent(*arguments)
    assert again.code == 2
    assert "--force" in again.err
    before = content(Path("out"))
    assert incumbent(*arguments, "--force").code == 1
    assert content(Path("out")) == before
    shutil.rmtree("out")
    write_lines(Path("t.jsonl"), traffic(5))
    other = incumbent(*arguments)
    assert other.code == 2
    assert "start over" in other.err


def test_looking_ends_where_many_in_a_row_bring_nothing_in_any_number_of_processes(
    tmp_path: Path, incumbent: Incumbent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a classifier with an embedding, after an estimate without it."""
    quick_platform(tmp_path, "{shard_rows: 7, round: 10, stop_after: 8}", embeds=True)
    config = tmp_path / "config/curation.yaml"
    monkeypatch.chdir(tmp_path)
    write_lines(Path("t.jsonl"), traffic(48)[:48])
    found = []
    for out, processes in (("one", "1"), ("two", "2")):
        arguments = ["triage", "t.jsonl", "--agent", AGENT, "--out", out, "--processes", processes, "--json"]
        outcome = incumbent(*arguments)
        assert outcome.code == 0, outcome.err
        found.append(json.loads(outcome.out))
    assert content(Path("one")) == content(Path("two"))
    assert found[0] == found[1] | {"out": "one"}
    assert 8 < found[0]["representatives"] - found[0]["unseen"] < 48
    report = Path("one/report.md").read_text(encoding="utf-8")
    assert f"{found[0]['unseen']:,} others, which stand for {found[0]['unseen_rows']:,} rows" in report
    estimated = duckdb.connect().execute("SELECT sum(estimated_rows) FROM 'one/capabilities.parquet'").fetchone()
    assert estimated
    assert estimated[0] > 0
    # Nothing is looked at anew, whatever another number of processes had begun; and with no end to looking all is.
    kept = {path: path.stat().st_mtime_ns for path in Path("two.work/classified").iterdir()}
    again = ["--force", "--processes", "1"]
    assert incumbent(*arguments, *again).code == 0
    assert content(Path("two")) == content(Path("one"))
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    text = config.read_text(encoding="utf-8")
    config.write_text(text.replace("stop_after: 8", "stop_after: null"), encoding="utf-8")
    outcome = incumbent(*arguments, *again)
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["unseen"] == 0
    assert "representatives estimated" not in outcome.err


@pytest.mark.usefixtures("root")
def test_a_set_that_is_stale_is_refused_before_anything_is_read(incumbent: Incumbent) -> None:
    """What counts for nothing would be found again in the traffic."""
    write_lines(Path("t.jsonl"), traffic(3))
    config = Path("config/curation.yaml")
    config.write_text(config.read_text(encoding="utf-8").replace("samples: 5", "samples: 3"), encoding="utf-8")
    outcome = incumbent("triage", "t.jsonl", "--agent", AGENT, "--out", "out")
    assert outcome.code == 1
    assert outcome.err.count("the entry is stale") == len(list(Path("regression_set").glob("*.yaml")))
    assert "incumbent reclassify" in outcome.err
    assert not Path("out").exists()
    assert not Path("out.work").exists()


@pytest.mark.usefixtures("root")
def test_every_kind_of_input_is_read_alike_and_several_agents_are_told_apart(incumbent: Incumbent) -> None:
    rows = [{"id": row["id"], "query": row["query"], "bot": "northwind-tracker/tracker"} for row in traffic(20)[:20]]
    write_lines(Path("t.jsonl"), rows)
    with gzip.open("t.csv.gz", "wt", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, ["bot", "query", "id"])
        table.writeheader()
        table.writerows(rows)
    duckdb.connect().execute("COPY (SELECT * FROM 't.jsonl') TO 't.parquet' (FORMAT parquet)")
    lists = []
    for name in ("t.jsonl", "t.csv.gz", "t.parquet"):
        agents = ["--agents", "examples/customers", "--agent-column", "bot"]
        outcome = incumbent("triage", name, *agents, "--out", f"out-{name}", "--processes", "1", "--json")
        assert outcome.code == 0, outcome.err
        lists.append(json.loads(outcome.out)["shortlist"])
        assert Path(f"out-{name}/eval_sets/northwind-tracker/tracker/eval_set.yaml").exists()
    assert lists[0]
    assert lists[0] == lists[1] == lists[2]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["t.jsonl", "--agent", AGENT, "--query-column", "qery"], 1, "perhaps you meant"),
        (["none.jsonl", "--agent", AGENT], 1, "there are words"),
        (["t.txt", "--agent", AGENT], 2, ".parquet, .jsonl, .ndjson, .csv"),
        (["t.jsonl"], 2, "--agent DIR"),
        (["broken.csv.gz", "--agent", AGENT], 1, "compress it anew"),
        (["broken.parquet", "--agent", AGENT], 1, "should be a Parquet file"),
    ],
)
@pytest.mark.usefixtures("root")
def test_what_cannot_be_read_is_refused_with_its_fix(
    arguments: list[str], code: int, said: str, incumbent: Incumbent
) -> None:
    write_lines(Path("t.jsonl"), traffic(3))
    write_lines(Path("none.jsonl"), [{"words": "hello"}])
    for name in ("t.txt", "broken.csv.gz", "broken.parquet"):
        Path(name).write_text("this is something else", encoding="utf-8")
    outcome = incumbent("triage", *arguments, "--out", "out")
    assert outcome.code == code, outcome.err
    assert said in outcome.err
    assert not Path("out").exists()


def words(out: str, *more: str, processes: int = 1) -> list[str]:
    return ["triage", "t.jsonl", "--agent", AGENT, "--out", out, "--processes", str(processes), *more]


def command(out: str, *more: str, processes: int = 2) -> list[str]:
    return [sys.executable, "-m", "incumbent", *words(out, *more, processes=processes)]


def environment() -> dict[str, str]:
    """That of this process, with the cache of the session."""
    return {**os.environ, "PYTHONPATH": str(REPOSITORY)}


def ran(*arguments: str, limit: int | None = None, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, in ``folder``; none of its files may have more than ``limit`` bytes."""

    def limited() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.run(
        arguments, cwd=folder, env=environment(), preexec_fn=limited, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, bytes], float]:
    """What an undisturbed run in one process comes to, and how many seconds it takes."""
    folder = quick_platform(tmp_path_factory.mktemp("undisturbed"), SETTINGS)
    write_lines(folder / "t.jsonl", traffic(100))
    begun = time.monotonic()
    done = ran(*command("whole", processes=1), folder=folder)
    assert done.returncode == 0, done.stderr
    assert "representatives classified 101/101" in done.stderr
    return content(folder / "whole"), time.monotonic() - begun


@pytest.fixture
def whole(root: Path, undisturbed: tuple[dict[str, bytes], float]) -> dict[str, bytes]:
    """The same, beside the rows that it comes from."""
    write_lines(root / "t.jsonl", traffic(100))
    return undisturbed[0]


def children(process: subprocess.Popen[str]) -> list[int]:
    listed = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="utf-8")
    found = [int(word) for word in listed.split()]
    return [each for each in found if b"spawn_main" in Path(f"/proc/{each}/cmdline").read_bytes()]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def until(what: Callable[[], object]) -> None:
    deadline = time.monotonic() + 120
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
def test_a_run_that_was_killed_goes_on_and_ends_with_the_same_bytes_in_any_number_of_processes(
    whole: dict[str, bytes],
) -> None:
    kept = Path("killed.work/classified")
    with subprocess.Popen(
        command("killed"), env=environment(), text=True, start_new_session=True, stderr=subprocess.DEVNULL
    ) as process:
        until(lambda: any(kept.glob("*.parquet")))
        workers = children(process)
        assert workers
        # Only the command itself: those that it began end as well.
        process.kill()
    until(lambda: not any(map(is_alive, workers)))
    assert not Path("killed").exists()
    done = {path: path.stat().st_mtime_ns for path in kept.glob("*.parquet")}
    assert done
    again = ran(*command("killed"))
    assert again.returncode == 0, again.stderr
    assert {path: path.stat().st_mtime_ns for path in done} == done
    assert content(Path("killed")) == whole


@pytest.mark.exhaustive
@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
def test_kills_at_any_moment_of_the_command_or_of_a_worker_change_no_byte(
    whole: dict[str, bytes], undisturbed: tuple[dict[str, bytes], float]
) -> None:
    draw = random.Random(int(os.environ.get("INCUMBENT_KILLS", "3")))
    killed, ended = 0, None
    while ended != 0:
        with subprocess.Popen(
            command("killed"), env=environment(), text=True, start_new_session=True, stderr=subprocess.PIPE
        ) as process:
            # What goes on has less left to do, and the machine may be quicker by now.
            left = min(undisturbed[1], 4.0) / (1 + killed)
            wants_worker, moment = killed % 2 == 1, time.monotonic() + draw.uniform(0.1, 1) * left
            while process.poll() is None and killed < KILLS:
                workers = children(process) if wants_worker else [process.pid]
                if time.monotonic() > moment and workers:
                    os.kill(draw.choice(workers), signal.SIGKILL)
                    killed += 1
                    break
                time.sleep(0.005)
            _, said = process.communicate()
        ended = process.returncode
        assert ended in (0, 4, -signal.SIGKILL), said
        if ended == 4:
            assert "was killed; run the command again" in said
        assert (ended == 0) == Path("killed").exists()
    # How often there was time for it depends on what else the machine does.
    assert killed
    assert content(Path("killed")) == whole
    assert not [name for name in content(Path("killed.work")) if name.endswith(".part") or name.startswith("spill")]


def test_files_that_may_not_grow_end_with_what_to_do_wherever_that_strikes(
    whole: dict[str, bytes], incumbent: Incumbent
) -> None:
    for limit, step, processes in ((0, "plan.json", 1), (2_600, "texts", 1), (14_000, "classified", 2)):
        failed = ran(*command("full", processes=processes), limit=limit)
        assert failed.returncode == 4, failed.stderr
        assert "error: the disk of full.work is full; free some of its disk, and the same command" in failed.stderr
        assert "or delete full.work" in failed.stderr
        assert not Path("full").exists()
        assert not [name for name, held in content(Path("full.work")).items() if name.endswith(".part") and held]
        # It got so far, and no further.
        assert not any(Path("full.work").glob(f"{step}/*.parquet")), content(Path("full.work")).keys()
    again = incumbent(*words("full"))
    assert again.code == 0, again.err
    assert content(Path("full")) == whole


@pytest.fixture
def small(root: Path) -> Iterator[Callable[[int], Path]]:
    """Makes file systems of so many kilobytes."""
    place = root / "small"
    place.mkdir()

    def made(kilobytes: int) -> Path:
        how = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(place)]
        if subprocess.run(how, capture_output=True, check=False).returncode:
            pytest.skip("no file system may be mounted here")
        return place

    yield made
    subprocess.run(["umount", str(place)], capture_output=True, check=False)


def test_a_disk_that_is_full_of_something_else_is_named_until_there_is_room(
    whole: dict[str, bytes], small: Callable[[int], Path], incumbent: Incumbent
) -> None:
    disk = small(1_000)
    for taken, processes in ((996, 1), (900, 2), (800, 1)):
        (disk / "mine").write_bytes(bytes(taken * 1_000))
        done = incumbent(*words("full", "--work", "small/work", processes=processes))
        assert done.code == 4, done.err
        assert "the disk of small/work is full; free some of its disk" in done.err
        assert not Path("full").exists()
    (disk / "mine").unlink()
    done = incumbent(*words("full", "--work", "small/work"))
    assert done.code == 0, done.err
    assert content(Path("full")) == whole


def test_an_output_without_room_is_named_and_the_work_goes_on(
    whole: dict[str, bytes], small: Callable[[int], Path], incumbent: Incumbent
) -> None:
    small(8)
    failed = incumbent(*words("small/out", "--work", "work"))
    assert failed.code == 4, failed.err
    assert "the disk of small/out is full; free some of its disk, or give --work work with --out" in failed.err
    assert not list(Path("small").iterdir())
    again = incumbent(*words("elsewhere", "--work", "work"))
    assert again.code == 0, again.err
    assert "rows read" not in again.err.splitlines()[0]
    assert content(Path("elsewhere")) == whole


@pytest.mark.usefixtures("root")
def test_personal_data_is_carried_only_where_that_is_asked_for_and_keys_never(incumbent: Incumbent) -> None:
    rows: list[dict[str, object]] = [
        {"query": f"Mail {ADDRESS} with {SECRET}: {row['query']}"} for row in traffic(40)[:40]
    ]
    write_lines(Path("t.jsonl"), rows)
    for out, more in (("masked", []), ("shown", ["--show-personal-data"])):
        outcome = incumbent("triage", "t.jsonl", "--agent", AGENT, "--out", out, "--processes", "1", "--json", *more)
        assert outcome.code == 0, outcome.err
        assert json.loads(outcome.out)["shortlist"]
        texts = {path.name: path.read_text(encoding="utf-8") for path in Path(out).glob("*.[my]*")}
        assert set(texts) == {"eval_set.yaml", "report.md"}
        for table in (
            f"{out}/shortlist.parquet",
            f"{out}.work/texts/*.parquet",
            f"{out}.work/representatives/*.parquet",
        ):
            found = duckdb.connect().execute(f"SELECT turns, masked FROM '{table}'").fetchall()
            texts[table] = json.dumps(found)
            assert all("key" in kinds and ("e-mail" in kinds) == (out == "masked") for _, kinds in found), table
        for name, text in texts.items():
            assert SECRET not in text, name
            assert (ADDRESS in text) == (out == "shown"), name
            assert ("[e-mail 1]" in text) == (out == "masked"), name
        # Nor anywhere else, whatever is compressed.
        assert not any(
            SECRET.encode() in held for folder in (out, f"{out}.work") for held in content(Path(folder)).values()
        )
        assert SECRET not in outcome.out + outcome.err
        assert ADDRESS not in outcome.out + outcome.err


@pytest.mark.usefixtures("root")
def test_inputs_without_rows_are_refused(incumbent: Incumbent) -> None:
    Path("t.jsonl").write_text("", encoding="utf-8")
    Path("t.csv").write_text("query,id\n", encoding="utf-8")
    outcome = incumbent("triage", "t.jsonl", "t.csv", "--agent", AGENT, "--out", "out")
    assert outcome.code == 1
    assert "there is no row in it" in outcome.err
    assert not Path("out").exists()


@pytest.mark.usefixtures("root")
def test_rows_of_which_none_can_be_read_are_listed_and_the_result_is_empty(incumbent: Incumbent) -> None:
    write_lines(Path("t.jsonl"), [{"query": 5}, {"query": None}])
    outcome = incumbent("triage", "t.jsonl", "--agent", AGENT, "--out", "out", "--processes", "1", "--json")
    assert outcome.code == 1, outcome.err
    assert outcome.err.count("query: expected text, a list of texts or messages") == 2
    said = json.loads(outcome.out)
    assert (said["rows"], said["unreadable"], said["representatives"], said["shortlist"]) == (0, 2, 0, [])


@pytest.mark.usefixtures("root")
def test_no_folder_of_somebody_else_is_overwritten(incumbent: Incumbent) -> None:
    write_lines(Path("t.jsonl"), traffic(3))
    Path("mine").mkdir()
    Path("mine/notes.txt").write_text("mine", encoding="utf-8")
    Path("link").symlink_to("nowhere")
    for out, more, said in (
        ("mine", [], "use --force"),
        ("mine", ["--force"], "not the result of a triage"),
        ("link", ["--force"], "symbolic link"),
        ("o", ["--work", "o/w"], "one in the other"),
        ("o/out", ["--work", "o"], "one in the other"),
        (".", ["--force"], "--out"),
        ("examples", ["--force", "--work", "w"], "is in the folder that --out names"),
    ):
        outcome = incumbent("triage", "t.jsonl", "--agent", AGENT, "--out", out, *more)
        assert outcome.code == 2, outcome.err
        assert said in outcome.err
    assert content(Path("mine")) == {"notes.txt": b"mine"}
    assert not Path("o").exists()


@pytest.mark.usefixtures("root")
def test_what_a_kill_at_the_end_left_is_restored_or_removed(incumbent: Incumbent) -> None:
    write_lines(Path("t.jsonl"), traffic(3))
    arguments = ["triage", "t.jsonl", "--agent", AGENT, "--out", "out", "--processes", "1"]
    assert incumbent(*arguments).code == 0
    result = content(Path("out"))
    # Killed between the two renames; another run was killed while it wrote.
    for folder in ("out.abcdefg_.part", "out.abcdefg1.part/new", "out.mine.part"):
        Path(folder).mkdir(parents=True)
    Path("out").rename("out.abcdefg_.part/older")
    outcome = incumbent(*arguments)
    assert outcome.code == 2
    assert "out exists" in outcome.err
    assert content(Path("out")) == result
    assert [path.name for path in Path().glob("out.*.part")] == ["out.mine.part"]


@pytest.mark.usefixtures("root")
def test_an_output_that_comes_into_being_meanwhile_stays(incumbent: Incumbent, monkeypatch: pytest.MonkeyPatch) -> None:
    from incumbent.triage import run, shortlist

    def choose(*arguments: Any) -> Any:
        Path("out").mkdir()
        Path("out/notes.txt").write_text("mine", encoding="utf-8")
        return original(*arguments)

    original = shortlist.choose
    monkeypatch.setattr(run, "choose", choose)
    write_lines(Path("t.jsonl"), traffic(3))
    Path("out.part").mkdir()
    Path("out.part/notes.txt").write_text("mine", encoding="utf-8")
    arguments = ["triage", "t.jsonl", "--agent", AGENT, "--out", "out", "--processes", "1"]
    outcome = incumbent(*arguments)
    assert outcome.code == 2, outcome.err
    assert content(Path("out")) == content(Path("out.part")) == {"notes.txt": b"mine"}
    shutil.rmtree("out")
    monkeypatch.undo()
    assert not list(Path().glob("out.*.part"))


@pytest.mark.usefixtures("root")
def test_two_agents_of_one_name_are_refused(incumbent: Incumbent) -> None:
    write_lines(Path("t.jsonl"), traffic(3))
    shutil.copytree("examples/customers/northwind-tracker", "agents/one")
    shutil.copytree("examples/customers/northwind-tracker", "agents/two")
    given = ["triage", "t.jsonl", "--agents", "agents", "--agent-column", "id", "--customer", "x", "--out", "out"]
    outcome = incumbent(*given)
    assert outcome.code == 1
    assert "the customer x has two agents tracker: one/tracker and two/tracker" in outcome.err


@pytest.mark.usefixtures("root")
def test_a_query_that_a_language_model_cannot_classify_blocks_no_other(
    incumbent: Incumbent, monkeypatch: pytest.MonkeyPatch
) -> None:
    from incumbent.triage import run

    monkeypatch.setattr(run, "missing", lambda *arguments: {"t1": "no valid sample"})
    write_lines(Path("t.jsonl"), traffic(3))
    arguments = ["triage", "t.jsonl", "--agent", AGENT, "--out", "out", "--processes", "1"]
    outcome = incumbent(*arguments)
    assert outcome.code == 3
    assert "not classified: t1: no valid sample; run again" in outcome.err
    assert not Path("out").exists()
    # As if another backend had been asked.
    monkeypatch.setattr(run, "EmbeddedBackend", type(None))
    outcome = incumbent(*arguments)
    assert outcome.code == 3
    assert "with --force asks for these" in outcome.err
    assert "| `t1` | `no valid sample` |" in Path("out/report.md").read_text(encoding="utf-8")

"""The steps `results` and `fit`: what they record on the ledger, also where other jobs write meanwhile."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from incumbent.classifier.caching_backend import HaltedBackend
from incumbent.classifier.embedded.backend import EmbeddedBackend
from incumbent.classifier.embedded.cache import ModelCache, digest_of
from incumbent.classifier.embedded.recorded import RecordedModels
from incumbent.errors import InputError, OutsideError
from incumbent.github import fit_job, model_opener
from incumbent.github.client import TRIES, LostRaceError
from incumbent.github.events import Event, Flow
from incumbent.github.fit_job import FittedRun, fit_own_model
from incumbent.github.git_state import World
from incumbent.github.model_opener import ModelOpener, ModelWantedError
from incumbent.github.models import MadeCommit, WriteLedger
from incumbent.github.results_job import CountedRun, ReleaseRun, count_run
from incumbent.ledger.model import BRANCH, ModelRecord, StoredModel
from incumbent.ledger.releases.record import release_path
from tests.factories import make_entry
from tests.reconcile.hub import MAIN, Hub
from tests.reconcile.runs import config_text, platform_files, platform_of
from tests.results.samples import PROMPTFOO

EVENT = Event(flow=Flow.NOTHING, repository="o/r", default_branch=MAIN)
ENTRIES = (make_entry("one", {"a": 0.9}, "q1"), make_entry("three", {"a": 0.9}, "q3"))
NOON = 1_800_000_000.0


class Busy(Hub):
    """A repository in which another job writes first, ``races`` times."""

    races = 0

    def write_ledger(self, operation: WriteLedger, tree: str | None) -> MadeCommit:
        if self.races:
            self.races -= 1
            parent = self.repository.branches.get(BRANCH)
            other = WriteLedger(parent=parent, files=((f"other{self.races}.json", "{}"),), message="x")
            self.apply(None, other, None if parent is None else self.repository.tree(parent))
            raise LostRaceError("the branch has moved")
        self.apply(None, operation, tree)
        commit = self.repository.branches[BRANCH]
        return MadeCommit(commit, self.repository.tree(commit))

    @property
    def ledger(self) -> Mapping[str, str]:
        return self.repository.files(BRANCH)


def busy(races: int = 0, **config: Any) -> Busy:
    hub = Busy(platform_files(ENTRIES, config_text(**config)))
    hub.races = races
    return hub


def world_of(hub: Hub) -> World:
    return World(store=hub.repository, url="https://github.example/o/r", token=None, run=None, clock=lambda: NOON)


# Results


def counted(
    hub: Busy, release: str = "v1", content: str = PROMPTFOO, dry_run: bool = False
) -> tuple[CountedRun, list[int]]:
    """A run of the step, and the attempts before which it waited."""
    waits: list[int] = []
    run = ReleaseRun(release=release, commit="c" * 40, files={"results.json": content.encode()}, form=None)
    return count_run(run, EVENT, world_of(hub), hub, waits.append, dry_run), waits


def test_results_are_counted_once_on_top_of_what_others_write() -> None:
    hub = busy(races=2)
    done, waits = counted(hub)
    assert waits == [1, 2]
    assert (done.commit, done.platform) == (hub.repository.branches[BRANCH], platform_of(hub))
    path = release_path("v1", "2027-01-15T08:00:00Z")
    assert {"other0.json", "other1.json", path} <= set(hub.ledger)
    record = json.loads(hub.ledger[path])
    assert (record["release"], record["commit"], record["at"]) == ("v1", "c" * 40, "2027-01-15T08:00:00Z")
    assert set(record["entries"]) == {"one", "three"}
    assert [item.release for item in done.releases] == ["v1"]
    again, waits = counted(hub)
    assert (again.commit, again.addition.record, waits) == (None, done.addition.record, [])
    # The next release comes later, whatever the clock says, and is the last of those that are known.
    later, _ = counted(hub, "v2")
    assert [item.release for item in later.releases] == ["v1", "v2"]
    assert later.addition.record.at > done.addition.record.at


def test_a_dry_run_counts_and_writes_nothing() -> None:
    hub = busy()
    done, _ = counted(hub, dry_run=True)
    assert (done.commit, len(done.addition.record.entries), hub.ledger) == (None, 2, {})


def test_a_job_that_never_wins_gives_up() -> None:
    hub = busy(races=TRIES)
    waits: list[int] = []
    run = ReleaseRun(release="v1", commit=None, files={"results.json": PROMPTFOO.encode()}, form="promptfoo")
    with pytest.raises(OutsideError, match="other jobs kept writing to the ledger; run this one again"):
        count_run(run, EVENT, world_of(hub), hub, waits.append, False)
    assert waits == list(range(1, TRIES + 1))


def test_results_that_cannot_be_read_are_a_fault() -> None:
    with pytest.raises(InputError):
        counted(busy(), content="{")


# Models


class Own(EmbeddedBackend):
    """A backend whose model is an array, of the platform's own or shipped."""

    def __init__(self, is_own: bool = True, key: str = "aaaaaaaa-1") -> None:
        self._key, self._is_own = key, is_own
        self.fits = 0

    @property
    def key(self) -> str:
        return self._key

    @property
    def is_own(self) -> bool:
        return self._is_own

    @property
    def identity(self) -> Any:
        return "identity"

    def handed_over(self) -> Any:
        self.fits += 1
        return ARRAYS


ARRAYS = {"x": np.arange(3.0)}
DIGEST = digest_of(ARRAYS)


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> Own:
    """The backend of the platform, which takes no model of any cache."""
    made = Own()

    def make(settings: Any, taxonomy: Any, cache: ModelCache, findings: Any, **more: Any) -> Own:
        assert (cache.folder, findings, more) == (None, {}, {"stages": stages})
        return made

    monkeypatch.setattr(fit_job, "make_backend", make)
    return made


def stages(title: str) -> Callable[[int, int], None]:
    """Progress that nobody sees."""
    return lambda done, total: None


def fitted(hub: Busy, folder: Path, dry_run: bool = False) -> tuple[FittedRun, list[int]]:
    waits: list[int] = []
    return fit_own_model(EVENT, world_of(hub), hub, folder, stages, waits.append, dry_run), waits


def models(hub: Busy) -> dict[str, str]:
    return dict(ModelRecord.model_validate_json(hub.ledger["models.json"], strict=False).digests)


def test_the_model_is_fitted_once_and_recorded_on_top_of_what_others_write(own: Own, tmp_path: Path) -> None:
    hub = busy(races=2)
    run, waits = fitted(hub, tmp_path)
    base = hub.repository.branches[MAIN]
    at = hub.repository.commit_time(base)
    model = StoredModel(key="aaaaaaaa-1", digest=DIGEST, commit=base, at=at)
    assert (run, waits, own.fits) == (FittedRun(model=model, commit=hub.repository.branches[BRANCH]), [1, 2], 1)
    assert {"other0.json", "other1.json"} <= set(hub.ledger)
    assert models(hub) == {"aaaaaaaa-1": DIGEST}
    assert ModelCache(tmp_path).load("aaaaaaaa-1") is not None
    # Another run makes the file again, and has nothing to record.
    other = tmp_path / "other"
    again, _ = fitted(hub, other)
    assert again == FittedRun(model=model, before=DIGEST)
    assert ModelCache(other).load("aaaaaaaa-1") is not None


def test_a_dry_run_fits_and_records_nothing(own: Own, tmp_path: Path) -> None:
    hub = busy()
    run, _ = fitted(hub, tmp_path, dry_run=True)
    assert run.model is not None
    assert (run.commit, hub.ledger, own.fits) == (None, {}, 1)


def test_what_has_no_model_of_its_own_records_none(own: Own, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hub = busy()
    own._is_own = False
    assert fitted(hub, tmp_path) == (FittedRun(), [])
    monkeypatch.setattr(fit_job, "make_backend", lambda *_, **__: object())
    assert fitted(hub, tmp_path) == (FittedRun(), [])
    assert hub.ledger == {}


def test_a_fit_that_never_wins_gives_up_and_one_that_cannot_be_kept_says_where(own: Own, tmp_path: Path) -> None:
    hub = busy(races=TRIES)
    with pytest.raises(OutsideError, match="other jobs kept writing to the ledger; run this one again"):
        fitted(hub, tmp_path)
    assert own.fits == 1
    (tmp_path / "file").write_text("")
    with pytest.raises(OutsideError, match=r"embedded-aaaaaaaa-1\.npz cannot be written; name another folder"):
        fitted(busy(), tmp_path / "file")


# Opening


def record_of(*keys: str, digest: str = DIGEST) -> ModelRecord:
    return ModelRecord(
        models=tuple(StoredModel(key=key, digest=digest, commit="c" * 40, at="2026-01-01T00:00:00Z") for key in keys)
    )


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What the platform's backends were opened with."""
    found: list[dict[str, Any]] = []

    def make(platform: Any, _: Any, *, recorded: RecordedModels, kept: bool) -> Any:
        found.append({"recorded": recorded, "kept": kept})
        return Own(is_own=platform.config.ceiling != 7)

    monkeypatch.setattr(model_opener, "open_backend_or_halt", make)
    return found


@pytest.mark.parametrize(
    ("use", "record", "stored", "names", "again", "ceiling", "expected"),
    [
        # A review needs the recorded model; with none it says so, and the platform's model is to be made.
        ("review", ("aaaaaaaa-1",), True, False, False, 5, ("used", False)),
        ("review", (), True, False, False, 5, ("halted", True)),
        ("review", ("aaaaaaaa-1",), False, False, False, 5, ("used", True)),
        ("review", ("aaaaaaaa-1",), False, True, False, 5, ("wanted", False)),
        ("review", (), False, True, False, 5, ("halted", True)),
        ("default-branch", (), False, False, False, 5, ("used", True)),
        ("default-branch", ("aaaaaaaa-1",), True, False, False, 5, ("used", False)),
        ("default-branch", ("aaaaaaaa-1",), True, False, True, 5, ("used", True)),
        # A preview is fitted here, and one that ships is there.
        ("preview", ("aaaaaaaa-1",), False, True, True, 5, ("used", False)),
        ("review", (), False, True, True, 7, ("used", False)),
    ],
)
def test_a_backend_is_opened_with_the_model_that_its_use_needs(
    use: Any,
    record: tuple[str, ...],
    stored: bool,
    names: bool,
    again: bool,
    ceiling: int,
    expected: tuple[str, bool],
    opened: list[dict[str, Any]],
    tmp_path: Path,
) -> None:
    if stored:
        ModelCache(tmp_path).store("aaaaaaaa-1", ARRAYS)
    platform = platform_of(busy(ceiling=ceiling))
    refused: list[str] = []
    noted: list[Any] = []
    opener = ModelOpener(tmp_path, names, again, stages, refused.append, noted.append)
    if expected[0] == "wanted":
        with pytest.raises(ModelWantedError, match=r"^aaaaaaaa-1$") as caught:
            opener(platform, record_of(*record), use)
        assert caught.value.key == "aaaaaaaa-1"
    else:
        backend = opener(platform, record_of(*record), use)
        assert isinstance(backend, HaltedBackend if expected[0] == "halted" else Own)
    assert opener.lacks_model is expected[1]
    assert (noted, len(opener.opened), refused) == ([platform], 1, [])
    assert opened[0]["kept"] is (use != "preview")


def test_a_restored_file_that_is_not_the_recorded_one_is_refused_by_name(
    opened: list[dict[str, Any]], tmp_path: Path
) -> None:
    ModelCache(tmp_path).store("aaaaaaaa-1", ARRAYS)
    refused: list[str] = []
    opener = ModelOpener(tmp_path, False, False, stages, refused.append, lambda _: None)
    opener(platform_of(busy()), record_of("aaaaaaaa-1", digest="0" * 64), "default-branch")
    assert opener.lacks_model
    assert len(refused) == 1

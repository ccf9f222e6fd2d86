"""The site: the same bytes for the same commit, whole links, no foreign markup, and each reader sees only theirs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from posixpath import normpath

import pytest

from incumbent.cli.main import run
from incumbent.errors import OutsideError
from incumbent.site.audience import Audience
from incumbent.site.folder import write_folder
from tests.copies import copy_of
from tests.factories import REPOSITORY
from tests.site.platforms import CUSTOMERS, content, files_for, make_repository

pytestmark = pytest.mark.untraced


class Links(HTMLParser):
    """The addresses of a page, its ids, and what it may not have: script or style of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.ids: list[str] = []
        self.active: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src"):
                self.addresses.append(value or "")
            if name == "id":
                self.ids.append(value or "")
            if name == "style" or name.startswith("on"):
                self.active.append(f"{tag} {name}")
        if tag in ("style", "iframe", "object", "base", "form") or (tag == "script" and not dict(attrs).get("src")):
            self.active.append(tag)


def links_of(page: bytes) -> Links:
    parser = Links()
    parser.feed(page.decode())
    return parser


AUDIENCES = [
    Audience(),
    Audience(texts=False),
    Audience(customer=CUSTOMERS[1]),
    Audience(customer=CUSTOMERS[0], texts=False),
]


@pytest.mark.parametrize("audience", AUDIENCES, ids=str)
def test_each_page_is_whole_and_leads_nowhere_else(audience: Audience) -> None:
    files = files_for(audience)
    for path, page in files.items():
        if not path.endswith(".html"):
            continue
        found = links_of(page)
        assert not found.active, (path, found.active)
        assert len(found.ids) == len(set(found.ids)), path
        for address in found.addresses:
            place, _, fragment = address.partition("#")
            assert ":" not in place
            assert not place.startswith("/")
            target = normpath(f"{path}/../{place}") if place else path
            assert target in files, (path, address)
            if fragment and target == path:
                assert fragment in found.ids, (path, address)
        # Data of any other scheme or host appears as text alone.
        assert not re.search(rb"(?:url\(|@import|http-equiv=.refresh)", page), path
        assert b'Content-Security-Policy" content="default-src &#39;self&#39;"' in page


def test_all_of_the_set_has_a_page() -> None:
    files = files_for(Audience())
    known = content().platform.regression_set
    for id in (*known.entries, *known.waiting, *known.tombstones):
        assert f"entries/{id}.html" in files
    for name in content().platform.taxonomy.by_id:
        assert f"capabilities/{name}.html" in files
    assert {"index.html", "coverage.html", "pairs.html", "entries.html", "customers.html"} <= set(files)
    assert {"results.html", "people.html"} <= set(files)


def test_the_same_set_gives_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = copy_of(make_repository, tmp_path / "elsewhere")
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    monkeypatch.setenv("LC_ALL", "tr_TR.UTF-8")
    assert run(["site", "--repo", str(folder), "--title", "A platform", "--output", str(tmp_path / "site")]) == 0
    written = {
        path.relative_to(tmp_path / "site").as_posix(): path.read_bytes()
        for path in (tmp_path / "site").rglob("*")
        if path.is_file() and path.name != "incumbent-site.txt"
    }
    assert written == files_for(Audience())


def test_without_texts_no_query_can_be_read() -> None:
    files = files_for(Audience(texts=False))
    known = content().platform.regression_set
    pages = b"\n".join(page for path, page in files.items() if path.endswith(".html")).decode()
    for entry in (*known.entries.values(), *known.waiting.values(), *known.evicted.values()):
        for turn in entry.turns:
            assert len(turn) < 8 or turn not in pages
    assert "What the customer expects" not in pages


@pytest.mark.parametrize("customer", CUSTOMERS)
def test_one_customer_sees_nothing_of_the_others(customer: str) -> None:
    files = files_for(Audience(customer=customer))
    known = content().platform.regression_set
    entries = (*known.entries.values(), *known.waiting.values(), *known.evicted.values())
    pages = {path: page.decode() for path, page in files.items() if path.endswith(".html")}
    own = [entry for entry in entries if entry.source is not None and entry.source.customer == customer]
    assert {f"entries/{entry.id}.html" for entry in own} == {path for path in pages if path.startswith("entries/")}
    everything = "\n".join([*pages, *pages.values()])
    for other in CUSTOMERS:
        assert (other in everything) == (other == customer), other
    for entry in entries:
        if entry not in own:
            assert entry.id not in everything
            assert all(len(turn) < 12 or turn not in everything for turn in entry.turns)
    # Reasons and commits are by people who know the others.
    assert "it went out of use" not in everything
    assert "Kim Curator" not in everything


def test_what_is_not_covered_is_said_with_who_could_bring_it() -> None:
    page = files_for(Audience())["index.html"].decode()
    short = content().short
    assert short
    for item in short:
        assert f'href="capabilities/{item.id}.html"' in page
    some = next(item for item in short if 0 < len(content().able(item.id)) <= 5)
    assert content().able(some.id)[0] in page
    head = page[page.index('id="gaps"') :]
    assert head.index("Agents that could bring it") < head.index("On the waitlist")


def test_an_entry_tells_its_history_from_git() -> None:
    known = content().platform.regression_set
    gone = next(iter(known.tombstones))
    page = files_for(Audience())[f"entries/{gone}.html"].decode()
    assert [change.subject for change in content().entries[gone].changes] == [
        "one waits, and one was evicted",
        "the set",
    ]
    assert "Kim Curator" in page
    assert "it went out of use" in page
    assert f"incumbent restore {gone}" in page


OPTIONS: list[tuple[tuple[str, ...], int, str]] = [
    ((), 2, "--output DIR"),
    (("--output", "{full}"), 2, "did not write"),
    (("--output", "{file}"), 2, "not a folder"),
    (("--output", str(REPOSITORY / "eval_sets" / "new" / "site")), 2, "is in the platform's eval_sets/"),
    (("--output", "{new}", "--customer", "nobody"), 1, "no such customer"),
]


@pytest.mark.parametrize(("words", "code", "said"), OPTIONS)
def test_what_it_cannot_follow_is_said_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], code: int, said: str
) -> None:
    full, file, new = tmp_path / "full", tmp_path / "file", tmp_path / "new"
    full.mkdir()
    (full / "mine.txt").write_text("mine")
    file.write_text("mine")
    arguments = [word.format(full=full, file=file, new=new) for word in words]
    assert run(["site", "--repo", str(REPOSITORY), *arguments]) == code
    assert said in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "full"]
    assert (full / "mine.txt").read_text() == "mine"


def test_a_site_is_replaced_as_a_whole(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "site"
    assert write_folder(folder, [("index.html", b"1"), ("entries/old.html", b"1")]) == 2

    def files() -> Iterator[tuple[str, bytes]]:
        yield "index.html", b"2"
        raise OSError(28, "No space left on device")

    with pytest.raises(OutsideError, match="No space left"):
        write_folder(folder, files())
    assert (folder / "index.html").read_bytes() == b"1"
    write_folder(folder, [("index.html", b"3")])
    assert sorted(path.name for path in folder.iterdir()) == ["incumbent-site.txt", "index.html"]
    assert [path.name for path in folder.parent.iterdir()] == ["site"]


@pytest.mark.parametrize("moves", [0, 1])
def test_who_stops_it_keeps_the_old_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moves: int) -> None:
    folder = tmp_path / "site"
    write_folder(folder, [("index.html", b"1")])
    rename, done = Path.rename, [0]

    def stopped(place: Path, target: Path) -> Path:
        if done[0] == moves:
            done[0] += 1
            raise KeyboardInterrupt
        done[0] += 1
        return rename(place, target)

    monkeypatch.setattr(Path, "rename", stopped)
    with pytest.raises(KeyboardInterrupt):
        write_folder(folder, [("index.html", b"2")])
    assert (folder / "index.html").read_bytes() == b"1"
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_site_inside_the_repository_is_no_change_of_it(tmp_path: Path) -> None:
    folder = copy_of(make_repository, tmp_path / "platform")
    words = ["site", "--repo", str(folder), "--customer", CUSTOMERS[-1], "--output"]
    pages = []
    for name in ("one", "two"):
        assert run([*words, str(folder / "build" / name)]) == 0
        pages.append((folder / "build" / name / "index.html").read_bytes())
    assert pages[0] == pages[1]
    assert b"not committed" not in pages[0]
    (folder / "build" / "notes.txt").write_text("mine")
    assert run([*words, str(folder / "build" / "one")]) == 0
    assert b"not committed" in (folder / "build" / "one" / "index.html").read_bytes()

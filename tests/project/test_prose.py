"""What people read is plain English: short sentences, and none of the words of the old dialect."""

from __future__ import annotations

import re
import tokenize
from pathlib import Path

import pytest

from dev.prose import MAX_MEAN, PAGES, REPOSITORY, dialect_in, dialect_of_messages, messages, prose_of


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_has_short_sentences(page: Path) -> None:
    prose = prose_of(page.read_text(encoding="utf-8"))
    assert not prose.long
    assert prose.mean <= MAX_MEAN


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_has_no_word_of_the_old_dialect(page: Path) -> None:
    assert not prose_of(page.read_text(encoding="utf-8")).dialect


def test_messages_have_no_word_of_the_old_dialect() -> None:
    assert not list(dialect_of_messages())


def test_sentences_are_those_of_paragraphs_and_lists() -> None:
    page = "# A title.\n\nOne `code span.` two. [Three](a.md) four:\n\n- five six\n- seven.\n\n| no | no |\n\n"
    page += "```sh\nno. No.\n```\n"
    assert prose_of(page).sentences == ("One X two.", "Three four:", "five six", "seven.")


def test_words_of_the_dialect_are_found_in_any_case_and_over_lines() -> None:
    assert dialect_in("Nobody is\ntold; it stays as\nit is, behind a bookstand.") == ("nobody", "told", "as it is")
    assert dialect_in("a message, a standard, the comment") == ()


def test_messages_are_literals_and_the_help_of_commands() -> None:
    source = '"""Module."""\n\n@click.command()\ndef f() -> None:\n    """Help."""\n    g("Said.")\n\n'
    source += 'def g() -> None:\n    """Inner."""\n'
    assert [text for _, text in messages(source)] == ["Help.", "Said."]


@pytest.mark.parametrize(
    "name", ["CODEOWNERS", "CURATION.md", "incumbent.yml", "incumbent-pages.yml", "regression_set.md"]
)
def test_what_init_writes_has_no_word_of_the_old_dialect(name: str) -> None:
    assert not dialect_in(
        (REPOSITORY / "bot" / "incumbent" / "pipeline" / "setup_files" / name).read_text(encoding="utf-8")
    )


CITED = re.compile(r"\b([A-Za-z]+)(?:\.md)?[,:]? (?:sections? |§ ?)\d")
"""A page that is cited by its section: `semantics, section 2`."""
CITABLE = {"semantics", "paper"}
TAGGED = (tokenize.COMMENT, tokenize.STRING)


def test_a_citation_is_found() -> None:
    text = "see architecture, section 2; semantics, section 3; the paper, sections 2.1 and 2.2; style.md §4"
    assert CITED.findall(text) == ["architecture", "semantics", "paper", "style"]


@pytest.mark.parametrize("room", ["bot", "dev", "tests"])
def test_code_cites_sections_of_pages_that_readers_have(room: str) -> None:
    """Those are ``docs/semantics.md`` and the paper."""
    found = set()
    for path in sorted((REPOSITORY / room).rglob("*.py")):
        # Taking files apart takes long, and few speak of sections.
        if path == Path(__file__) or not _others_cited(path.read_text(encoding="utf-8")):
            continue
        with path.open("rb") as file:
            for token in tokenize.tokenize(file.readline):
                if token.type in TAGGED:
                    found |= {(path.name, word) for word in _others_cited(token.string)}
    assert not found


def _others_cited(text: str) -> set[str]:
    """The pages that ``text`` cites, but for those that readers have."""
    return {word for word in CITED.findall(" ".join(text.split())) if word.lower() not in CITABLE}


def test_every_section_that_code_cites_is_a_heading() -> None:
    """Docstrings cite sections of ``docs/semantics.md`` by their numbers."""
    page = (REPOSITORY / "docs" / "semantics.md").read_text(encoding="utf-8")
    headings = set(re.findall(r"^#+ ([\d.]*\d)\.? ", page, re.MULTILINE))
    cited: dict[str, Path] = {}
    for path in sorted((REPOSITORY / "bot" / "incumbent").rglob("*.py")):
        text = " ".join(path.read_text(encoding="utf-8").split())
        for numbers in re.findall(r"[Ss]emantics, sections? ((?:[\d.]*\d)(?:(?:,| and| to) [\d.]*\d)*)", text):
            cited |= dict.fromkeys(re.findall(r"[\d.]*\d", numbers), path)
    assert len(cited) > 5
    assert not cited.keys() - headings

"""Which lines of a comment are seen as plain text: what hides a line, and what does not."""

from __future__ import annotations

import pytest

from incumbent.github.markdown_text import seen

LINE = "/incumbent run"
BLOCKS = ("center", "div", "h1", "h2", "li", "ol", "p", "ul")
INLINE = ("b", "em", "i", "span", "strong", "u")
# Of each kind some: quotes, code, what folds, what is struck through, media, forms, tables, and what is left out.
HIDING = (
    *("blockquote", "code", "details", "del", "video", "form", "td", "script", "title", "h3", "sup", "a", "math"),
    *("abbr", "xmp", "iframe", "select"),
)


def is_seen(body: str) -> bool:
    lines = body.split("\n")
    return seen(lines, [lines.index(LINE) + 1]) != ()


@pytest.mark.parametrize("tag", [*BLOCKS, *INLINE])
def test_elements_of_plain_text_hide_nothing_unless_they_have_attributes(tag: str) -> None:
    assert is_seen(f"<{tag}>\n\n{LINE}\n\n</{tag}>")
    assert is_seen(f"<{tag.upper()}>\n\n{LINE}\n\n</{tag.upper()}>")
    assert not is_seen(f"<{tag} hidden>\n\n{LINE}\n\n</{tag}>")
    assert is_seen(f"<{tag} hidden>\n\nx\n\n</{tag}>\n\n{LINE}")
    assert is_seen(f"<{tag} start=3>\n\n{LINE}\n\n</{tag}>") is (tag == "ol")


@pytest.mark.parametrize("tag", HIDING)
def test_all_other_elements_hide_what_is_in_them(tag: str) -> None:
    assert not is_seen(f"<{tag}>\n\n{LINE}\n\n</{tag}>")
    assert not is_seen(f"<div><{tag}>\n\n{LINE}\n\n</{tag}></div>")
    # Never closed, it hides what follows as well.
    assert not is_seen(f"<{tag}>\n\n{LINE}")


@pytest.mark.parametrize(
    "body",
    [
        f"<x-y>\n\n{LINE}\n\n</x-y>",
        f"<br>\n\n{LINE}",
        f"<img src=x>\n\n{LINE}",
        f"<hr/>\n\n{LINE}",
        f"<del>x</del>\n\n{LINE}",
        f"<ul>\n<li>\n\nx\n\n<li>\n\n{LINE}\n\n</ul>",
        f"<div><p>x</div>\n\n{LINE}",
        f"<ul hidden>\n\n<li>x\n\n</ul>\n\n{LINE}",
        f"<div hidden>\n\n<p>x\n\n</div>\n\n{LINE}",
        f"</details>\n\n{LINE}",
        f"a $1 and a ~ b\n\n{LINE}",
        f"x $\n{LINE}\n$ y",
        f"x $<br>\n{LINE}\nb$ y",
        f"x $$a$$ y\n\n{LINE}\n\n$b$",
        f"&lt;details>\n\n{LINE}",
        f"a\n{LINE}\nb",
        f"3. x\n\n{LINE}",
        f"[^1]: x\n\n{LINE}",
    ],
)
def test_what_hides_nothing(body: str) -> None:
    assert is_seen(body)


@pytest.mark.parametrize(
    "body",
    [
        f"x $a\n{LINE}\nb$ y",
        f"x ~a\n{LINE}\nb~ y",
        f"~~a\n{LINE}\nb~~",
        f"<details>\n\n<div>\n\n{LINE}\n\n</div>\n\n</details>",
        f"<details>\n\n<div>\n\nx\n\n</div>\n\n{LINE}\n\n</details>",
        f"<details><details></details>\n\n{LINE}",
        f"<details/>\n\n{LINE}",
        f"<ul><details><li>x</ul>\n\n{LINE}",
        f"<!-- x\n{LINE}\n-->",
        f"    x\n\n    y\n[^1]: a\n{LINE}",
        f"> - [^1]: a\n{LINE}",
        f"1) [^a b]: x\n[^ab]: x\n{LINE}",
    ],
)
def test_what_hides_a_line(body: str) -> None:
    assert not is_seen(body)


def test_each_line_counts_by_itself() -> None:
    lines = [LINE, "", "<details>", "", LINE, "", "</details>", "", f"  {LINE}", "", f"> {LINE}"]
    assert seen(lines, [1, 5, 9]) == (1, 9)
    assert seen(lines, []) == ()
    # The mark of another program in the text is no mark.
    assert seen(["\ue0002\ue000", LINE], [1]) == (1,)

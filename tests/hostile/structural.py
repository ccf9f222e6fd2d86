"""Attacks by the shape of a file: its encoding, its size, its depth, and what is not there."""

from __future__ import annotations

import json

from tests.hostile.attacks import (
    TEXTS,
    Attack,
    any_of,
    changed,
    copies,
    deep,
    extra,
    filled,
    full,
    many_queries,
    much_beside,
    whole,
    with_items,
    with_text,
)
from tests.hostile.templates import written

_NOT_UTF8 = "not valid UTF-8"
_LIMIT = "more (?:queries )?than the limit"
_TOO_LONG = "more than the limit|are too long|must be a list of turns"
_MANY = "more than 200,000 values"
_ANY = "."

ENCODINGS = (
    Attack(name="UTF-16", make=changed(lambda content: content.decode().encode("utf-16")), says=_NOT_UTF8),
    Attack(name="UTF-16 unmarked", make=changed(lambda content: content.decode().encode("utf-16-be")), says="NUL"),
    Attack(name="UTF-32", make=changed(lambda content: content.decode().encode("utf-32")), says=_NOT_UTF8),
    Attack(
        name="latin-1",
        make=changed(lambda content: content.replace(b"Petrel", b"P\xe9trel").replace(b"harbour", b"h\xe4fen")),
    ),
    Attack(name="latin-1 at the end", make=changed(lambda content: content + b"# \xe9\n"), says=_NOT_UTF8),
    Attack(name="overlong", make=changed(lambda content: content + b"\xc0\xae\xc0\xae\xc0\xaf"), says=_NOT_UTF8),
    Attack(name="a surrogate in bytes", make=changed(lambda content: content + b"\xed\xa0\x80"), says=_NOT_UTF8),
    Attack(name="cut within a character", make=changed(lambda content: content + "🚢".encode()[:3]), says=_NOT_UTF8),
    Attack(name="a byte order mark", make=changed(lambda content: b"\xef\xbb\xbf" + content)),
    Attack(name="two byte order marks", make=changed(lambda content: b"\xef\xbb\xbf" * 2 + content)),
    Attack(name="marks between lines", make=changed(lambda content: content.replace(b"\n", b"\n\xef\xbb\xbf"))),
    Attack(name="NUL", make=changed(lambda content: content + b"\0"), says="NUL"),
    Attack(name="NUL everywhere", make=changed(lambda content: b"\0".join(content.split(b" "))), says="NUL"),
    Attack(name="carriage returns", make=changed(lambda content: content.replace(b"\n", b"\r"))),
    Attack(name="separators", make=changed(lambda content: content.replace(b"\n", "\u2028\u0085".encode()))),
    Attack(name="a program", make=whole(b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 200)),
    Attack(name="an archive", make=whole(b"PK\x03\x04" + b"\x14\0\0\0\x08\0" * 500)),
    Attack(name="escapes of a console", make=with_text("\x1b[2J\x1b]0;owned\x07 \x9b31m")),
    Attack(name="bidi", make=with_text("\u202eeteled\u2066 all\u2069 \u200b\ufeff ships\U000e0041")),
    Attack(name="a noncharacter", make=with_text("\uffff \U0010fffe ships")),
)

_ONLY = tuple(
    # A file that an agent only refers to may say that it offers nothing.
    Attack(name=f"only {name}", make=whole(content), says=says, says_of_agents="")
    for name, content, says in (
        ("nothing", b"", _ANY),
        ("white space", b" \n\t\n", _ANY),
        ("a mark", b"\xef\xbb\xbf", _ANY),
        ("null", b"null", _ANY),
        ("a number", b"0", _ANY),
        ("a text", b'"text"', _ANY),
        ("a list", b"[]", _ANY),
        ("a mapping", b"{}", _ANY),
        ("a list of lists", b"[[[]]]", _ANY),
        ("a quote", b'"', _ANY),
        ("a bracket", b"[", _ANY),
    )
)
EMPTY = (
    *_ONLY,
    Attack(
        name="no queries", make=lambda template: None if template.items is None else written(template.with_items([]))
    ),
    Attack(name="cut in the middle", make=changed(lambda content: content[: len(content) // 2])),
    Attack(name="twice over", make=changed(lambda content: content * 2)),
)

SIZES = (
    Attack(
        name="one byte too many", make=changed(lambda content: content + b" " * 4_000_001), says=_LIMIT, has_line=False
    ),
    *(
        Attack(name=f"full of {part!r}", make=full(part))
        for part in (
            *(
                b" ",
                b"\n",
                b"\t",
                b"a",
                b'"',
                b"'",
                b"[",
                b"{",
                b"]",
                b",",
                b":",
                b"\\",
                b"-",
                b"- ",
                b"? ",
                b"!",
                b"&a ",
            ),
            *(b"*a ", b"#", b"|\n", b"%", b"\r", b"0", b"[]", b"{}", b"[],", b'"",', b'""\n', b'{"', b'{"a":', b"{}\n"),
            *(b"0\n", b"- \n", b"a\n", b"a: ", b"a:\n", b"---\n", b'"a\n', b'","', b'"\\', b"{{", b"${", b"$[file('"),
            *(b"query", b"prompt\n", b"\xc2\x85", "é".encode(), b"[null,", b"- - ", b"\n ", b"a,b\n", b"-\n", b"1e"),
        )
    ),
    *(
        Attack(name=f"full of {part!r} after the file", make=filled(part))
        for part in (b"\n", b'"', b"[", b"{}\n", b'"\n', b",", b"\\", b'{"', b" x", b"\n- a")
    ),
    Attack(name="an endless text", make=with_text("a" * 3_000_000), says=_TOO_LONG, says_of_agents=""),
    Attack(name="a text of quotes", make=with_text('"' * 900_000), says=_TOO_LONG, says_of_agents=""),
    Attack(name="a text of braces", make=with_text("{{" * 900_000), says=_TOO_LONG, says_of_agents=""),
    Attack(
        name="a text of white space",
        make=with_text("x" + " " * 2_000_000 + "x"),
        says=_TOO_LONG,
        says_of_agents="",
    ),
    Attack(name="a text of ligatures", make=with_text("\ufdfa" * 8_000)),
    Attack(name="an endless key", make=extra("k" * 3_000_000, "[[]]")),
    Attack(name="many keys", make=extra("more", "{" + ",".join(f'"k{i}": {i}' for i in range(90_000)) + "}")),
    Attack(
        name="many equal keys",
        make=extra("more", "{" + ",".join('"k": 0' for i in range(90_000)) + "}"),
        says="given twice",
    ),
    Attack(name="many values", make=extra("more", "[" + "0," * 250_000 + "0]"), says=_MANY, has_line=False),
    Attack(name="many lists", make=extra("more", "[" + "[]," * 150_000 + "[]]")),
    *(
        Attack(name=f"many items {value!r}", make=with_items(value, 1_000_000))
        for value in any_of(None, 0, "", "a", [], {}, {"a": 0}, [[]], {"query": 0}, {"role": "user"}, True)
    ),
    *(
        Attack(name=f"some items {value!r}", make=with_items(value, 60_000))
        for value in any_of(
            None, "", "a", [], {}, {"query": 0}, {"prompt": ""}, {"id": [], "input": {}}, {"turns": [{}]}
        )
    ),
    Attack(name="much beside many", make=much_beside(40_000, 4_000)),
    Attack(name="many equal queries", make=copies(lambda item, place: item, 20_000)),
    Attack(name="more queries than allowed", make=many_queries(5_100), says=_LIMIT, says_of_agents=""),
    Attack(
        name="many other keys",
        make=copies(lambda item, place: {**item, f"k{place}": place} if isinstance(item, dict) else item, 9_000),
    ),
)

DEPTHS = (
    *(
        Attack(name=f"deep {opening!r}", make=whole(opening * 100_000, *kinds), says=_ANY)
        for opening, kinds in (
            (b"[", TEXTS),
            (b'{"a":', TEXTS),
            (b"[{a: ", ("yaml",)),
            (b"- ", ("yaml",)),
            (b"? ", ("yaml",)),
            (b"- ? ", ("yaml",)),
        )
    ),
    Attack(
        name="deep steps",
        make=whole("".join(f"{' ' * level}a:\n" for level in range(2_000)).encode(), "yaml"),
        says="deeper",
    ),
    Attack(name="deep and closed", make=extra("more", "[" * 20_000 + "]" * 20_000), says="deeper"),
    Attack(name="just too deep", make=extra("more", "[" * 61 + "]" * 61), says="deeper"),
    Attack(name="just deep enough", make=extra("more", "[" * 55 + "]" * 55)),
    Attack(name="a deep text", make=with_text(deep("a", 40))),
    Attack(name="JSON in a text, deep", make=with_text("[" * 3_000)),
    Attack(name="JSON in a text, broken", make=with_text('[{"role": "user", "content": "a"')),
    Attack(name="JSON in a text, twice a key", make=with_text('{"messages": [], "messages": []}')),
    Attack(name="JSON in a text, NaN", make=with_text('[{"role": "user", "content": NaN}]')),
    Attack(name="JSON in JSON in JSON", make=with_text(json.dumps(json.dumps(json.dumps([{"role": "user"}]))))),
)

"""Changes to a file: blind ones to its bytes, and ones that keep its structure, which get past the parsers."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from random import Random
from typing import Any

import yaml

from tests.hostile.templates import Kind, Template, written

_BITS: tuple[bytes, ...] = (
    *(b"\xef\xbb\xbf", b"\xff\xfe", b"\0", b"\xed\xa0\x80", b"\xc0\xaf", b"\r", b"\n", b"\t", b"\r\n\r\n", b"\x1b[2J"),
    *(
        b'"',
        b"'",
        b'""',
        b"\\",
        b"\\u0000",
        b"\\ud800",
        b"{",
        b"}",
        b"[",
        b"]",
        b":",
        b",",
        b";",
        b"- ",
        b"? ",
        b"--- ",
    ),
    *(b"&a ", b"*a ", b"<<: ", b"!!python/object:os.system ", b"!!binary ", b"|\n ", b"> ", b"# ", b"%YAML 1.1\n"),
    *(b"null", b"true", b"NaN", b"-Infinity", b"1e999", b"0x" + b"f" * 40, b"9" * 40, b"-0", b".inf", b"~"),
    *(
        b"$ref",
        b"#/paths",
        b"$[file('../../etc/passwd')]",
        b"[[key]]",
        b"${{X}}",
        b"{{question}}",
        b"file:///etc/passwd",
    ),
    *(
        "\u202e\u2028\u0085\ufeff".encode(),
        "🚢".encode(),
        b"=cmd|' /C calc'!A0",
        b"__proto__",
        b"id",
        b"turns",
        b"messages",
    ),
)
_WORDS: tuple[Any, ...] = (
    *(
        "",
        " ",
        "\n",
        "a",
        "../../etc/passwd",
        "file:///etc/passwd",
        "$[file('instruction.txt')]",
        "#/",
        "#/paths/~1x/get",
    ),
    *(
        "{{question}}",
        "{",
        "[",
        '[{"role": "user", "content": "a"}]',
        '{"a": ',
        "null",
        "user",
        "*",
        "-",
        "\ud83d\ude00",
    ),
    *(None, True, False, 0, -1, 10**30, 1.5, -0.0, [], {}, [[]], [None], [""], {"": None}, {"$ref": "#"}),
    *({"role": "user"}, {"role": "user", "content": "a"}, [{"role": "user", "content": [{"type": "text"}]}]),
    *({"messages": []}, {"type": "human", "content": [{}]}, ["a", "b"], ["a", 1], "x" * 9_000),
)
_KEYS = (
    *("query", "turns", "messages", "prompt", "prompts", "input", "inputs", "tests", "vars", "items", "data", "evals"),
    *("role", "content", "type", "id", "kwargs", "conversation", "metadata", "expected", "tools", "$ref", "$schema"),
    *("conversationId", "data_mapping", "setup", "attachments", "graders", "paths", "security", "file", "", "a.b", "0"),
)
_MOST_BYTES = 60_000


def mutate(template: Template, content: bytes, random: Random) -> bytes:
    """``content`` after one to four changes; ``template`` says how it is written."""
    for _ in range(random.randint(1, 4)):
        if random.random() < 0.5:
            content = _change_data(content, random, template.kind)
        else:
            content = random.choice(_BLIND)(content, random)
    return content[:_MOST_BYTES]


def _place(content: bytes, random: Random) -> int:
    return random.randint(0, len(content))


def _flip(content: bytes, random: Random) -> bytes:
    if not content:
        return b"\0"
    place = random.randrange(len(content))
    return content[:place] + bytes([content[place] ^ (1 << random.randrange(8))]) + content[place + 1 :]


def _insert(content: bytes, random: Random) -> bytes:
    place = _place(content, random)
    return content[:place] + random.choice(_BITS) * random.choice((1, 1, 1, 2, 70)) + content[place:]


def _cut(content: bytes, random: Random) -> bytes:
    first, second = sorted((_place(content, random), _place(content, random)))
    return content[:first] + content[second:] if random.random() < 0.7 else content[:first]


def _repeat(content: bytes, random: Random) -> bytes:
    first = _place(content, random)
    part = content[first : first + random.randint(1, 200)]
    return content[:first] + part * random.choice((2, 3, 50)) + content[first:]


def _splice(content: bytes, random: Random) -> bytes:
    first, second, third = (_place(content, random) for _ in range(3))
    return content[:first] + content[min(second, third) : max(second, third)] + content[first:]


def _recode(content: bytes, random: Random) -> bytes:
    text = content.decode("utf-8", "replace")
    return text.encode(random.choice(("utf-16", "utf-16-le", "latin-1", "utf-8-sig", "utf-7")), "replace")


def _line_ends(content: bytes, random: Random) -> bytes:
    return content.replace(b"\n", random.choice((b"\r\n", b"\r", b"\n\n", "\u2028".encode(), b"\0")))


_BLIND: tuple[Callable[[bytes, Random], bytes], ...] = (
    *(_flip, _insert, _insert, _cut, _repeat, _splice, _recode, _line_ends),
)


def _change_data(content: bytes, random: Random, kind: Kind) -> bytes:
    """``content`` with one of its values, keys or items changed; a blind change if it cannot be parsed."""
    try:
        data = _parsed(content.decode(), kind)
        holder: list[Any] = [data]
        spots = list(_spots(holder))
        where, step = random.choice(spots)
        _change(where, step, random, spots)
        return written(Template(reader="", path=f"a.{kind}", data=holder[0])) if holder else b""
    except (ValueError, TypeError, LookupError, RecursionError, AttributeError, yaml.YAMLError, csv.Error):
        return _insert(content, random)


def _parsed(text: str, kind: Kind) -> Any:
    match kind:
        case "json":
            return json.loads(text)
        case "jsonl":
            return [json.loads(line) for line in text.split("\n") if line.strip()]
        case "yaml":
            # Aliases come out as the same object, and go back as aliases.
            return yaml.load(text, Loader=yaml.CSafeLoader)
        case "csv" | "tsv":
            return list(csv.reader(io.StringIO(text, newline=""), delimiter="\t" if kind == "tsv" else ","))


def _spots(holder: Any) -> list[tuple[Any, Any]]:
    """Where a value stands: what holds it, and under which key or at which place."""
    found: list[tuple[Any, Any]] = []
    todo, seen = [holder], set[int]()
    while todo and len(found) < 5_000:
        value = todo.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        steps = list(value) if isinstance(value, dict) else list(range(len(value)))
        found.extend((value, step) for step in steps)
        todo.extend(value[step] for step in steps if isinstance(value[step], dict | list))
    return found


def _change(where: Any, step: Any, random: Random, spots: list[tuple[Any, Any]]) -> None:
    match random.randrange(8):
        case 0 | 1:
            where[step] = random.choice(_WORDS)
        case 2:
            del where[step]
        case 3 if isinstance(where, dict):
            where[random.choice(_KEYS)] = where.pop(step)
        case 4 if isinstance(where, dict):
            where[random.choice(_KEYS)] = random.choice(_WORDS)
        case 3 | 4:
            where.insert(step, where[step])
        case 5:
            holder, key = random.choice(spots)
            where[step] = json.loads(json.dumps(holder[key]))
        case 6:
            where[step] = json.dumps(where[step])
        case 7:
            value = where[step]
            where[step] = [value] * random.choice((1, 2, 45)) if random.random() < 0.5 else {"content": value}

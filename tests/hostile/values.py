"""Attacks by what a file says: numbers, keys, ids, texts, and slips and tricks of each way of writing."""

from __future__ import annotations

from tests.hostile.attacks import (
    TEXTS,
    Attack,
    any_of,
    changed,
    extra,
    rows,
    same_name,
    table,
    twice,
    whole,
    with_name,
    with_text,
)
from tests.hostile.judging import SECRET

_NO_NUMBER = "not a JSON value|not a finite number|is not a value of the type|string of digits"
_NUMBERS = ("1e999", "-1e999", "9" * 5_000, "1" + "0" * 5_000 + "e1", "1e" + "9" * 5_000, "-" + "9" * 5_000)

NUMBERS = (
    *(Attack(name=f"the number {text[:12]}", make=extra("more", text), says=_NO_NUMBER) for text in _NUMBERS),
    *(
        Attack(name=f"the number {text}", make=extra("more", text, "json", "jsonl"), says="not a JSON value")
        for text in ("NaN", "Infinity", "-Infinity")
    ),
    *(
        Attack(name=f"the number {text}", make=extra("more", text, "yaml"), says=_NO_NUMBER)
        for text in (".nan", "-.inf")
    ),
    Attack(name="a hexadecimal number", make=extra("more", "0x" + "f" * 9_000, "yaml"), says=_NO_NUMBER),
    Attack(name="a number of another base", make=extra("more", "190:20:30", "yaml")),
    Attack(name="hardly a number", make=extra("more", "1e-400")),
)

KEYS = (
    Attack(name="a key twice", make=twice, says="given twice"),
    Attack(name="a secret as a key twice", make=extra("more", f'{{"{SECRET}": 1, "{SECRET}": 2}}'), says="given twice"),
    Attack(name="half a surrogate pair", make=extra("more", '"\\ud800"', "json", "jsonl"), says="surrogate"),
    Attack(name="half a pair as a key", make=extra("more", '{"\\udfff": 1}', "json", "jsonl"), says="surrogate"),
    Attack(name="half a pair in YAML", make=extra("more", '"\\ud800"', "yaml"), says="not valid YAML"),
    Attack(name="a key __proto__", make=extra("__proto__", '{"constructor": {"prototype": {}}}')),
    Attack(name="empty keys", make=extra("more", '{"": {"": [{"": ""}]}}')),
    Attack(name="a secret as a key", make=extra(SECRET, '{"a": [}'), says=""),
)

IDS = (
    *(
        Attack(name=f"the id {value!r}", make=with_name(value), says=says, says_of_agents="")
        for value, says in any_of(
            (True, ""),
            (12, ""),
            (1.5, ""),
            (None, ""),
            ([], ""),
            ({}, ""),
            ([["a"]], ""),
            ("", ""),
            ("  ", ""),
            ("a\nb", "cannot be seen"),
            ("a\tb\x1b[2J", "cannot be seen|not allowed|NUL"),
            ("\u202egnol", "cannot be seen"),
            ("\u200b", "cannot be seen"),
            ("x" * 300, "more than 200"),
            ("x" * 1_000_000, "more than 200|no eval set was found"),
            ("../../etc/passwd", ""),
            ("CON", ""),
            ("-rf", ""),
            (10**40, ""),
        )
    ),
    Attack(name="an id twice", make=same_name("ship-2")),
    Attack(name="a secret as an id twice", make=same_name(SECRET)),
)

_SECRETS = (
    f"Log in with {SECRET} and look",
    f"https://pilot:{SECRET}@harbour.example/ships",
    f"token={SECRET}",
    f"-----BEGIN PRIVATE KEY-----\n{SECRET}\n-----END PRIVATE KEY-----",
)
TEXT = (
    *(
        Attack(name=f"the text {value!r:.30}", make=with_text(value))
        for value in any_of(
            *("", " ", "\n", None, True, 12, [], {}, [[]], ["a", 1], [{}], [None], {"messages": {}}, {"role": "user"}),
            *(
                [{"role": "user"}],
                [{"role": "user", "content": {}}],
                [{"role": "user", "content": [{"type": "image"}]}],
            ),
            *([{"role": "robot", "content": "a"}], {"messages": [{"role": "assistant", "content": "a"}]}),
            *([{"type": "constructor", "id": [[]], "kwargs": {}}], [{"type": "human", "data": []}]),
            *("{{question}}", "{{ question | upper }}{% for a in b %}", "${ENV}", "{{", "[[key]]", "[[" * 5_000),
            *("file:///etc/passwd", "file://../../etc/passwd", "/etc/passwd", "../../etc/passwd", "~/.ssh/id_rsa"),
            *("$[file('../../etc/passwd')]", "$[file('/etc/passwd')]", "$[file('evals.yaml')]" * 300, "$[file('"),
            *("https://harbour.example/tests.yaml", "python:/tmp/x.py", "\\\\host\\share", "C:\\secret.txt"),
            *(
                "=cmd|' /C calc'!A0",
                "@SUM(1)",
                "<script>alert(1)</script>",
                "| a | b |\n|---|",
                "@everyone #1",
                "`" * 99,
            ),
        )
    ),
    *(Attack(name=f"a secret {number}", make=with_text(text)) for number, text in enumerate(_SECRETS)),
    *(
        Attack(name=f"a secret in a fault {number}", make=with_text(value))
        for number, value in enumerate(
            any_of(
                [{"role": SECRET, "content": "a"}],
                {SECRET: SECRET},
                [{"role": "user", "content": [{"type": "image", "image": {"url": SECRET * 400}}]}],
                f"file://{SECRET}",
                f"file:///{SECRET}.json",
                f"{{{{{SECRET}}}}}",
                f'{{"a": "{SECRET}", "a": 1}}',
                f"[{SECRET}",
                f"[[{SECRET}]] ${{{{{SECRET}}}}} $[file('{SECRET}')]",
            )
        )
    ),
)


YAML = (
    Attack(
        name="a billion laughs",
        make=whole(
            b"a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
            + b"".join(b"a%d: &a%d [%s]\n" % (n, n, b",".join([b"*a%d" % (n - 1)] * 9)) for n in range(1, 12)),
            "yaml",
        ),
        says="more than 200,000 values",
    ),
    Attack(
        name="a bomb beside the rest",
        make=extra(
            "more",
            "\n  a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
            + "".join(f"  a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9)),
            "yaml",
        ),
        says="more than 200,000 values",
    ),
    Attack(
        name="a quadratic bomb",
        make=extra("more", "\n  a: &a [" + "x," * 20_000 + "x]\n  b: [" + "*a," * 20_000 + "*a]", "yaml"),
        says="more than 200,000 values",
    ),
    Attack(
        name="a long text by alias",
        make=extra("more", "\n  a: &a " + "x" * 100_000 + "\n  b: [" + "*a," * 20_000 + "*a]", "yaml"),
    ),
    Attack(name="an alias of itself", make=extra("more", "&a [*a]", "yaml"), says="itself or to nothing"),
    Attack(
        name="an alias of a key in itself", make=extra("more", "&a {b: {c: *a}}", "yaml"), says="itself or to nothing"
    ),
    Attack(name="an alias of nothing", make=extra("more", "*nowhere", "yaml"), says="itself or to nothing"),
    Attack(name="an anchor twice", make=extra("more", "[&a 1, &a 2, *a]", "yaml")),
    Attack(name="many anchors", make=extra("more", "[" + ",".join(f"&a{n} {n}" for n in range(90_000)) + "]", "yaml")),
    *(
        Attack(name=f"the tag {tag}", make=extra("more", f"{tag} {value}", "yaml"), says="tag|not valid YAML")
        for tag, value in (
            ("!!python/object/apply:os.system", "['touch hostile']"),
            ("!!python/name:os.system", "''"),
            ("!!binary", "aGVsbG8="),
            ("!!timestamp", "2026-01-01"),
            ("!!set", "{a, b}"),
            ("!!omap", "[a: 1]"),
            ("!include", "/etc/passwd"),
            ("!ENV", "${HOME}"),
            ("!<tag:yaml.org,2002:python/object/new:type>", "[a]"),
        )
    ),
    Attack(name="the tag of nothing", make=extra("more", "! [a]", "yaml")),
    Attack(name="a merge key", make=extra("more", "\n  a: &a {x: 1}\n  b:\n    <<: *a\n    y: 2", "yaml")),
    Attack(
        name="a merge bomb",
        make=extra("more", "\n  a: &a {x: 1}\n  b: {" + ", ".join(["<<: *a"] * 5_000) + "}", "yaml"),
    ),
    Attack(
        name="a merge key at the top", make=changed(lambda content: b"<<: {agent: 2, eval_set: 2}\n" + content, "yaml")
    ),
    *(
        Attack(name=f"YAML with {name}", make=extra("more", text, "yaml"), says=says)
        for name, text, says in (
            ("a list as a key", "{[a]: 1}", "plain scalar"),
            ("a mapping as a key", "{? {a: b} : 1}", "plain scalar"),
            ("a second document", "1\n---\na: 1", "second document"),
            ("an open quote", '"a', "not valid YAML"),
            ("an open list", "[a, b", "not valid YAML"),
            ("a tab", "\n\ta: 1", "not valid YAML"),
            ("a control character", "\x01", "not allowed"),
            ("an escape", '"\\x00\\x1b"', ""),
            ("a long key", "{" + "k" * 2_000 + ": 1}", ""),
            ("no value", "", ""),
            ("a Norwegian", "no", ""),
            ("a long plain text", "word " * 200_000, ""),
            ("many comments", "1\n" + "# a\n" * 400_000, ""),
            ("many documents", "1\n" + "---\n" * 300_000, ""),
            ("an end", "1\n...\n...", ""),
        )
    ),
    Attack(name="another version", make=changed(lambda content: b"%YAML 9.9\n---\n" + content, "yaml")),
    Attack(name="a tag directive", make=changed(lambda content: b"%TAG ! tag:evil,2000:\n---\n" + content, "yaml")),
    Attack(name="many directives", make=changed(lambda content: b"%A b\n" * 200_000 + b"---\n" + content, "yaml")),
)

JSON = (
    *tuple(
        Attack(name=f"JSON with {name}", make=extra("more", text, "json", "jsonl"), says=says)
        for name, text, says in (
            ("a trailing comma", "[1,]", "not valid JSON"),
            ("a comment", "1 // one", "not valid JSON"),
            ("single quotes", "'a'", "not valid JSON"),
            ("no quotes", "a", "not valid JSON"),
            ("a line break in a text", '"a\nb"', "not valid JSON"),
            ("an unknown escape", '"\\x41"', "not valid JSON"),
            ("an open text", '"a', "not valid JSON"),
            ("a secret in a fault", f'"{SECRET}" "{SECRET}"', "not valid JSON"),
            ("another value", "1}{", "not valid JSON"),
            ("a repeated key in each of many", "[" + '{"a":1,"a":2},' * 30000 + "0]", "given twice"),
            ("many numbers that are none", "[" + "NaN," * 150000 + "0]", "not a JSON value"),
            ("many halves of characters", "[" + '"\\ud800",' * 150000 + "0]", "surrogate"),
            ("escapes", '"' + "\\u0041" * 600000 + '"', ""),
            ("a schema from elsewhere", '{"$ref": "https://harbour.example/schema.json"}', ""),
        )
    ),
    Attack(name="JSON in lines", make=changed(lambda content: content.replace(b"\n", b" ") + b"\n{}", "json")),
    Attack(
        name="a list of lines", make=changed(lambda content: b"[" + content.replace(b"\n", b",\n") + b"{}]", "jsonl")
    ),
    Attack(name="lines of a Mac", make=changed(lambda content: content.replace(b"\n", b"\r"), "jsonl")),
    Attack(
        name="many broken lines",
        make=changed(lambda content: content + b'{"a": \n' * 400000, "jsonl"),
        says="too many lines",
    ),
    Attack(name="one broken line", make=changed(lambda content: content + b'{"a": \n', "jsonl"), says="not valid JSON"),
    Attack(
        name="lines of other values",
        make=changed(lambda content: content + b"0\n" * 90000, "jsonl"),
        says="must be an object",
    ),
    Attack(name="YAML under the name of JSON", make=changed(lambda content: b"a: 1\nb: [2]\n", *TEXTS), says=""),
)

# Where quotes are broken every sign counts as a cell, so that a large file has too many of them.
_MANY = "|more than 200,000 values"
_BROKEN = "cannot be read" + _MANY
CSV = (
    Attack(
        name="a quote that is left open", make=changed(lambda content: content + b'"open\n', "csv", "tsv"), says=_BROKEN
    ),
    Attack(name="a quote inside", make=changed(lambda content: content.replace(b"Petrel", b'x"Petrel"'), "csv", "tsv")),
    Attack(name="text after a quote", make=rows('"a"b,c\n'), says=_BROKEN, has_line=False),
    Attack(name="open quotes in every row", make=rows('"open,a\n'), says=_BROKEN, has_line=False),
    Attack(name="open quotes in two rows of three", make=rows('"a"b,"\na,b\n'), says=_BROKEN, has_line=False),
    Attack(name="a secret behind a broken quote", make=rows(f'"{SECRET}"x,\n'), says=_BROKEN, has_line=False),
    Attack(name="a million rows", make=rows("a\n")),
    Attack(name="a million rows of commas", make=rows(",\n")),
    Attack(name="full of commas", make=rows(",")),
    Attack(name="full of quotes in rows", make=rows('""\n')),
    Attack(name="ragged rows", make=rows("a,b,c,d,e,f,g,h,i\nb\n"), says="cells" + _MANY, has_line=False),
    Attack(name="many empty rows", make=rows("\n")),
    Attack(name="many broken JSON cells", make=table(lambda data: [data[0], *[["[{" for _ in data[0]]] * 30_000])),
    Attack(name="only a header", make=table(lambda data: data[:1])),
    Attack(name="no header", make=table(lambda data: data[1:])),
    Attack(name="a header of nothing", make=table(lambda data: [[""] * len(data[0]), *data[1:]])),
    Attack(name="a header twice", make=table(lambda data: [data[0] * 2, *[row * 2 for row in data[1:]]])),
    Attack(name="a secret as header", make=table(lambda data: [[SECRET] * len(data[0]), *data[1:]])),
    Attack(name="10,000 columns", make=table(lambda data: [row + [f"c{n}" for n in range(10_000)] for row in data])),
    Attack(name="10,000 equal columns", make=table(lambda data: [row + ["c"] * 10_000 for row in data])),
    Attack(name="200,000 columns", make=table(lambda data: [row + [f"c{n}" for n in range(200_000)] for row in data])),
    Attack(name="10,000 query columns", make=table(lambda data: [row + ["query"] * 10_000 for row in data])),
    Attack(name="10,000 columns of headers", make=table(lambda data: [data[0] * 2_000, *data[1:]])),
    Attack(
        name="other separators",
        make=changed(lambda content: content.replace(b",", b"|").replace(b"\t", b"|"), "csv", "tsv"),
    ),
    Attack(name="a line for spreadsheets", make=changed(lambda content: b"sep=;\n" + content, "csv", "tsv")),
    Attack(name="all separators", make=rows("a,;b\n")),
    Attack(name="a long preface", make=changed(lambda content: b"about\n" * 600_000 + content, "csv", "tsv")),
    Attack(name="NUL in a cell", make=table(lambda data: [*data, ["\0"] * len(data[0])]), says="NUL"),
)

"""Configs of promptfoo, in YAML or JSON: prompts rendered with the variables of the tests.

Each test makes a query with each of its prompts; a variable with a list of texts makes a test of each.  Tests with the
same ``conversationId`` are the turns of one conversation, in order; so are all tests of a prompt that repeats the
conversation so far (``_conversation``) without such an id.  A test and the values of its variables are kept as
expectation; the config's data for all tests is kept under ``config``.

Without prompts, the provider puts the variables into its request; the query is the variable with a usual name.
``formats.yaml`` may name the variable (``columns: {query: NAME}``), also if prompts are programs.

Source: https://www.promptfoo.dev/docs/configuration/reference/, and promptfoo 0.121 (``evaluator``).
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from incumbent.errors import InputError, Problem, untrusted
from incumbent.files.documents import Data, Node, as_list, as_mapping
from incumbent.intake.eval_sets.columns import FORMATS_FILE, named
from incumbent.intake.eval_sets.formats.promptfoo.prompts import (
    Compiled,
    PromptTemplate,
    compile_prompt,
    read_prompts,
    render,
    speak,
)
from incumbent.intake.eval_sets.formats.promptfoo.template import SAID, TemplateFault, TooLongFault
from incumbent.intake.eval_sets.formats.promptfoo.tests import (
    PREFIX,
    PromptfooTest,
    ReferencedFiles,
    Variables,
    read_cases,
)
from incumbent.intake.eval_sets.reader import EvalSetReader, EvalSetRow, EvalSetRows, SourceFile, enough
from incumbent.intake.query import Setup

_NAME: Final = "promptfoo"
_TELLING: Final = frozenset(
    {"providers", "targets", "tests", "scenarios", "defaultTest", "evaluateOptions", "redteam", "assertionTemplates"}
)
_OF_A_TEST: Final = frozenset({"vars", "assert", "metadata", "options"})
_FOR_ALL: Final = ("description", "tags", "defaultTest", "assertionTemplates", "derivedMetrics")


def _recognises(source: SourceFile) -> bool:
    data = as_mapping(source.document.data if source.document else None)
    if "prompts" in data and data.keys() & _TELLING:
        return True
    if isinstance(data.get("redteam"), dict) and data.keys() & {"targets", "providers"}:
        return True
    tests = [as_mapping(item) for item in as_list(data.get("tests"))]
    runs = "providers" in data or "targets" in data or "scenarios" in data
    return runs and any(test.keys() & _OF_A_TEST for test in tests)


@dataclass
class _Group:
    """A query under construction: its turns, the expectation of each, and whether one of them is broken."""

    line: int | None
    turns: list[str] = field(default_factory=list)
    attachments: list[str] = field(default_factory=list)
    expected: list[dict[str, Data]] = field(default_factory=list)
    tests: int = 0
    broken: bool = False


class _Stop(Exception):  # noqa: N818 - it ends the reading early, and is no error
    """Further reading is useless."""


def _read(source: SourceFile) -> EvalSetRows:
    if source.document is None:
        return EvalSetRows(())
    config = _Config(source, source.root)
    return config.reading()


class _Config:
    """Reads one config into queries."""

    def __init__(self, source: SourceFile, root: Node) -> None:
        self._source, self._root, self._limits = source, root, source.folder_limits
        self._files = ReferencedFiles(source)
        self._problems: list[Problem] = []
        self._groups: dict[tuple[int, str], _Group] = {}
        self._compiled: dict[tuple[int, str, str], Compiled | None] = {}
        # A query or a set with more text than this exceeds the limits.
        most = self._limits.turns * self._limits.turn_characters
        self._variables = Variables(self._files, most, self._limits.queries * self._limits.turn_characters)
        self._steps = 0
        self._default = self._default_test()
        declared = source.columns.query if source.columns is not None else None
        self._said: dict[str, int] = {}
        self._unprompted = declared is None and root["prompts"].absent
        if declared is not None:
            self._prompts = [self._prompt_of(declared)]
        else:
            self._prompts = read_prompts(root["prompts"], self._files, self._problems, f"or {self._declaration}")
        shared = {key: root[key].data for key in _FOR_ALL if not root[key].absent}
        if root["defaultTest"].text:
            shared["defaultTest"] = dict(self._default)
        self._shared: dict[str, Data] = {"config": shared} if shared else {}

    @property
    def _declaration(self) -> str:
        """The fix if it is unclear which variable is the query."""
        line = f"files: {{{untrusted(json.dumps(self._source.path))}: {{format: {_NAME}, columns: {{query: NAME}}}}}}"
        return f"write `formats: 1` and `{line}` into {FORMATS_FILE}, with the name of the variable that the user says"

    def _or_named(self, fix: str) -> str:
        return f"{fix}; or {self._declaration}"

    def _prompt_of(self, variable: str) -> PromptTemplate:
        """A prompt of ``variable`` alone."""
        return PromptTemplate(f"{{{{ {variable} }}}}", self._source.file, 1, f"vars.{variable}", {})

    def _default_test(self) -> Mapping[str, Data]:
        place = self._root["defaultTest"]
        if not place.text:
            return as_mapping(place.data)
        try:
            (source,) = self._files.all(place, place.text)
        except InputError as error:
            self._problems.extend(error.problems)
            return {}
        return as_mapping(source.document.data if source.document is not None else None)

    def reading(self) -> EvalSetRows:
        """The queries of the config, up to the limit of the folder."""
        if self._root.has("redteam") and not (self._root.has("tests") or self._root.has("scenarios")):
            message = "redteam: its tests are made when promptfoo runs, and the config has no others"
            fix = "run `promptfoo redteam generate`, and bring the file that it writes"
            return EvalSetRows((), (self._root["redteam"].problem(message, fix),))
        try:
            for case in read_cases(self._root, self._files, self._problems):
                self._test(case)
        except _Stop:
            pass
        rows = [self._row(group) for group in self._groups.values() if group.tests and not group.broken]
        return EvalSetRows(tuple(rows), tuple(dict.fromkeys(self._problems)), frozenset(self._files.used))

    def _row(self, group: _Group) -> EvalSetRow:
        together = group.tests > 1
        expected: dict[str, Data] = {"turns": list(group.expected)} if together else dict(group.expected[-1])
        description = expected.get("description")
        return EvalSetRow(
            turns=tuple(group.turns),
            line=group.line,
            title=description.strip() or None if isinstance(description, str) else None,
            expected={**expected, **self._shared} or None,
            setup=Setup(attachments=tuple(dict.fromkeys(group.attachments))),
        )

    def _test(self, case: PromptfooTest) -> None:
        """Add the turns of ``case`` with each prompt to the groups."""
        default, place = self._default, case.place
        options = {**as_mapping(default.get("options")), **as_mapping(case.data.get("options"))}
        metadata = {**as_mapping(default.get("metadata")), **as_mapping(case.data.get("metadata"))}
        variables = {**as_mapping(default.get("vars")), **as_mapping(case.data.get("vars"))}
        before = len(self._problems)
        combinations = self._combinations(case, variables, options)
        prompts = self._asked(case, variables) if self._unprompted else self._chosen(case)
        if "transformVars" in options:
            self._fault(place, "`transformVars` is a program, which is not run", "write the variables that it gives")
        wrapped = [str(options.get(key) or "") for key in ("prefix", "suffix")]
        if len(self._problems) > before:
            return
        conversation = metadata.get("conversationId", options.get("conversationId"))
        for values in combinations:
            for number, prompt in prompts:
                self._steps += 1
                if self._steps > self._limits.queries * self._limits.turns:
                    self._fault(place, "the config makes more tests than the limits allow", "write fewer tests")
                    raise _Stop
                template = self._template(number, prompt, wrapped)
                group = self._group(case, number, conversation, template)
                # A conversation that is too long already needs no more turns.
                if template is None or len(group.turns) > self._limits.turns:
                    group.broken = group.broken or template is None
                    continue
                self._add(group, case, prompt, template, values)

    def _fault(self, place: Node, message: str, fix: str) -> None:
        self._problems.append(place.problem(f"{self._name(place)}{message}", fix))

    def _name(self, place: Node) -> str:
        return f"{place.name}: " if place.path else ""

    def _asked(self, case: PromptfooTest, variables: Mapping[str, Data]) -> list[tuple[int, PromptTemplate]]:
        """The prompt of a test if the config has none: the variable with the user's words."""
        if "prompt" in variables or not variables:
            return list(enumerate(self._prompts))
        candidates = [name for name, value in variables.items() if isinstance(value, str | list)]
        found = next((names for names in map(partial(named, candidates), SAID) if names), candidates)
        if len(found) != 1:
            message = f"the config has no prompts, and several variables could be the query: {', '.join(found[:10])}"
            self._fault(case.place, message if found else "the config has no prompts", self._declaration)
            return []
        return [(self._said.setdefault(found[0], len(self._said) + 1), self._prompt_of(found[0]))]

    def _chosen(self, case: PromptfooTest) -> list[tuple[int, PromptTemplate]]:
        """The prompts of a test."""
        wanted = case.data.get("prompts", self._default.get("prompts"))
        numbered = list(enumerate(self._prompts))
        if wanted is None:
            return numbered
        names = [name for name in as_list(wanted) if isinstance(name, str)]
        found = [pair for pair in numbered if any(pair[1].is_meant(name) for name in names)]
        if not found and self._prompts:
            self._fault(case.place, "`prompts` names no prompt of the config", "name labels of prompts")
        return found

    def _combinations(
        self, case: PromptfooTest, variables: Mapping[str, Data], options: Mapping[str, Data]
    ) -> Iterator[dict[str, Data]]:
        """The values of the variables for each test."""
        spread = not options.get("disableVarExpansion")
        values = [self._values(case, value) if spread else [value] for value in variables.values()]
        count = math.prod(map(len, values))
        if count > self._limits.queries:
            message = f"the lists in `vars` make {count:,} tests, more than the limit of {self._limits.queries:,}"
            self._fault(case.place, message, "write fewer values, or raise limits.queries in config/curation.yaml")
        return (dict(zip(variables, chosen, strict=True)) for chosen in itertools.product(*values))

    def _values(self, case: PromptfooTest, value: Data) -> list[Data]:
        if isinstance(value, list) and value and isinstance(value[0], str):
            return value
        if isinstance(value, str) and value.startswith(PREFIX):
            try:
                return [f"{PREFIX}{name}" for name in self._files.names(case.place, value)]
            except InputError as error:
                self._problems.extend(error.problems)
        return [value]

    def _template(self, number: int, prompt: PromptTemplate, wrapped: list[str]) -> Compiled | None:
        """``prompt`` with its prefix and suffix, compiled once; ``None`` if that fails."""
        prefix, suffix = wrapped
        key = (number, prefix, suffix)
        if key not in self._compiled:
            try:
                self._compiled[key] = compile_prompt(f"{prefix}{prompt.raw}{suffix}", self._source.limits)
            except TemplateFault as fault:
                self._compiled[key] = None
                line = None if prompt.line is None else prompt.line + fault.line - 1
                self._problems.append(
                    Problem(prompt.file, line, f"{prompt.name}: {fault.message}", self._or_named(fault.fix))
                )
        return self._compiled[key]

    def _group(self, case: PromptfooTest, number: int, conversation: Data, template: Compiled | None) -> _Group:
        """The query to which a test belongs."""
        if isinstance(conversation, str | int | float) and str(conversation):
            key = f"named {conversation}"
        elif template is not None and template.history:
            key = f"scenario {case.scenario}"
        else:
            key = f"test {self._steps}"
        if (number, key) not in self._groups:
            if enough(self._groups, self._limits.queries, self._problems, case.place.problem):
                raise _Stop
            self._groups[number, key] = _Group(case.line)
        return self._groups[number, key]

    def _add(
        self, group: _Group, case: PromptfooTest, prompt: PromptTemplate, template: Compiled, values: Mapping[str, Data]
    ) -> None:
        """Add the turns of one test with one prompt to its query."""
        problems: list[Problem] = []
        try:
            ready = self._variables.ready(case.place, values)
            value, size = render(template, ready.values, self._variables.most)
            self._variables.room -= size
            spoken, messages = speak(value, prompt, self._source.path, self._source.limits, problems)
        except TooLongFault as fault:
            self._variables.room -= self._variables.most
            fix = f"{fault.fix}, or raise limits.turn_characters in config/curation.yaml"
            problems.append(case.place.problem(f"{self._name(case.place)}{fault.message}", fix))
        except TemplateFault as fault:
            where = prompt.name if prompt.line is None else f"{prompt.name} ({prompt.file}:{prompt.line})"
            message = f"{self._name(case.place)}{fault.message}; {where} uses it"
            problems.append(case.place.problem(message, self._or_named(fault.fix)))
        except InputError as error:
            problems.extend(error.problems)
        if problems:
            self._problems.extend(problems)
            group.broken = True
        if self._variables.room < 0:
            message = "the rendered prompts are too long; what follows was not looked at"
            fix = "split the config, or raise limits.turn_characters in config/curation.yaml"
            self._fault(case.place, message, fix)
            raise _Stop
        if problems:
            return
        expected = dict(case.data)
        if values:
            expected["vars"] = dict(values)
        fields = prompt.fields | ({} if messages is None else {"messages": messages})
        if fields:
            expected["prompt"] = fields
        group.tests += 1
        group.turns.extend(spoken.turns)
        group.attachments.extend((*ready.attached, *spoken.attachments))
        # The expectation applies to the last turn of a test.
        group.expected.extend([*({} for _ in spoken.turns[1:]), expected])


READER: Final = EvalSetReader(
    name=_NAME,
    title="promptfoo config in YAML or JSON (`prompts` with `tests` or `providers`)",
    endings=(".yaml", ".yml", ".json"),
    mark=re.compile(r"""\b(?:prompts|tests|scenarios|redteam)["']?\s*:"""),
    recognises=_recognises,
    read=_read,
    names_columns=True,
)

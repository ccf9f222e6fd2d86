"""The tools for the regression set: its state, its entries, suggested evictions, and people's agreement."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, TypeAlias

from mcp_types import CallToolResult
from pydantic import Field

from bot.classifier.model import Progress
from bot.curator.entry import Entry
from bot.curator.roles import derive_roles
from bot.errors import UsageError
from bot.mcp_server.answers import page
from bot.mcp_server.inputs import (
    Flag,
    Limit,
    Offset,
    Texts,
)
from bot.mcp_server.set_answers import (
    AgreementAnswer,
    EntriesAnswer,
    EntryRow,
    ResultsAnswer,
    StatusAnswer,
    SuggestionsAnswer,
)
from bot.mcp_server.tool_runner import Call, Workers, without_places
from bot.mcp_server.untrusted import Named, find_name, shown
from bot.mcp_server.workspace import Workspace
from bot.pipeline.review import Platform
from bot.pipeline.workspace import declared_agents
from bot.report.agreement import agreement_overview
from bot.report.results import local_results
from bot.report.status import prune_overview, status_overview
from bot.text.compare import utc

Capability: TypeAlias = Annotated[
    Named, Field(max_length=200, description="id of a capability, as in incumbent://taxonomy")
]
Role: TypeAlias = Literal["champion", "pinned", "in-set", "waiting", "evicted"]


class Overviews:
    """The tools on ``workspace``; ``workers`` run their calls."""

    def __init__(self, workspace: Workspace, workers: Workers) -> None:
        self._workspace = workspace
        self._workers = workers

    async def status(
        self,
        ctx: Call,
        only: Annotated[
            Literal["short", "uncovered", "all"],
            Field(description="capabilities to show: below their floor, without any coverer, or all"),
        ] = "short",
        pairs: Annotated[
            Flag, Field(description="whether to list the missing pairs, which reads each agent's specification")
        ] = False,
        limit: Limit = 50,
        offset: Offset = 0,
    ) -> Annotated[CallToolResult, StatusAnswer]:
        """Size against the ceiling, coverage of capabilities and pairs, pins, the waitlist. Like `incumbent status`."""

        def work(_: Progress) -> StatusAnswer:
            platform = self._workspace.platform()
            agents = declared_agents(platform, self._workspace.root) if pairs else None
            return StatusAnswer.of(status_overview(platform, agents), only, offset, limit)

        return await self._workers.answer(ctx, work)

    async def find_entries(
        self,
        ctx: Call,
        role: Annotated[
            Role, Field(description="champion of something, pinned, all in the set, waiting for a slot, or evicted")
        ] = "in-set",
        capability: Capability | None = None,
        customer: Annotated[Named, Field(description="entries of this customer alone")] | None = None,
        text: Annotated[str, Field(min_length=1, max_length=500, description="what a turn contains, case aside")]
        | None = None,
        scores: Annotated[Flag, Field(description="whether the rows hold the score of every capability")] = False,
        texts: Texts = False,
        limit: Limit = 20,
        offset: Offset = 0,
    ) -> Annotated[CallToolResult, EntriesAnswer]:
        """Find entries by role, capability, customer or text; the best score in `capability` first, else by id."""

        def work(_: Progress) -> EntriesAnswer:
            platform = self._workspace.platform()
            if capability is not None:
                find_name(capability, platform.taxonomy.by_id, "capability", "take an id of incumbent://taxonomy")
            roles = derive_roles(platform.regression_set.residents(platform.taxonomy)[0], platform.config)
            champions: dict[str, list[str]] = {}
            for name, id in roles.champions.items():
                champions.setdefault(id, []).append(name)
            found = [
                entry
                for entry in _of_role(platform, role)
                if (capability is None or capability in entry.scores)
                and (customer is None or _came_from(entry, customer))
                and (text is None or any(text.casefold() in turn.casefold() for turn in entry.turns))
                and (role != "champion" or entry.id in champions)
                and (role != "pinned" or entry.id in roles.pinned)
            ]
            if capability is not None:
                found.sort(key=lambda entry: (-entry.scores[capability], entry.id))
            rows, total, after = page(found, offset, limit)
            return EntriesAnswer(
                total=total,
                next_offset=after,
                entries=[
                    EntryRow.of(
                        entry,
                        champions.get(entry.id, []),
                        roles.pinned.get(entry.id, ()),
                        capability,
                        scores=scores,
                        texts=texts,
                    )
                    for entry in rows
                ],
            )

        return await self._workers.answer(ctx, work)

    async def suggest_evictions(
        self, ctx: Call, limit: Limit = 20, offset: Offset = 0
    ) -> Annotated[CallToolResult, SuggestionsAnswer]:
        """Entries that could be evicted without loss, and at the ceiling swaps. Like `incumbent prune`.

        Any subset of the suggestions, confirmed in any order, leaves every floor and every pin intact. People confirm.
        """

        def work(_: Progress) -> SuggestionsAnswer:
            return SuggestionsAnswer.of(prune_overview(self._workspace.platform()), offset, limit)

        return await self._workers.answer(ctx, work)

    async def results(
        self,
        ctx: Call,
        only: Annotated[
            Literal["flapping", "failed", "all"],
            Field(description="entries to show: those that flap, those that failed in a release, or all"),
        ] = "flapping",
        limit: Limit = 20,
        offset: Offset = 0,
    ) -> Annotated[CallToolResult, ResultsAnswer]:
        """What release runs said: what flaps, never failed, or is covered in name alone. Like `incumbent results`.

        It comes from the branch incumbent/ledger of the local clone.
        """

        def work(_: Progress) -> ResultsAnswer:
            found = local_results(self._workspace.root, self._workspace.platform())
            to_do = None if found.without is None else without_places(found.without, self._workspace.root)
            return ResultsAnswer.of(found.output, to_do, only, offset, limit)

        return await self._workers.answer(ctx, work)

    async def agreement(
        self,
        ctx: Call,
        since: Annotated[datetime, Field(description="responses from this time on, ISO 8601")] | None = None,
        until: Annotated[datetime, Field(description="responses before this time, ISO 8601")] | None = None,
        by: Annotated[Named, Field(max_length=100, description="login: responses of this person alone")] | None = None,
        months: Annotated[Flag, Field(description="whether to count by month too")] = False,
        limit: Limit = 5,
        offset: Offset = 0,
    ) -> Annotated[CallToolResult, AgreementAnswer]:
        """How far people agree with the verdicts and suggestions that they saw. Like `incumbent agreement`.

        Their answers come from the branch incumbent/ledger of the local clone.
        """

        def work(_: Progress) -> AgreementAnswer:
            try:
                bounds = [None if moment is None else utc(moment.isoformat()) for moment in (since, until)]
            except ValueError as error:
                raise UsageError(f"`since` and `until` must be {error}") from None
            found = agreement_overview(self._workspace.root, bounds[0], bounds[1], by)
            to_do = None if found.without is None else without_places(found.without, self._workspace.root)
            return AgreementAnswer.of(found.output, to_do, months=months, offset=offset, limit=limit)

        return await self._workers.answer(ctx, work)


def _of_role(platform: Platform, role: Role) -> list[Entry]:
    """The entries with ``role``, sorted by id."""
    known = platform.regression_set
    found = {"waiting": known.waiting, "evicted": known.evicted}.get(role, known.entries)
    return sorted(found.values(), key=lambda entry: entry.id)


def _came_from(entry: Entry, customer: str) -> bool:
    """Whether ``entry`` came from ``customer``, given by name or as the name is shown."""
    return entry.source is not None and customer in (entry.source.customer, shown(entry.source.customer))

"""The tools for the regression set: its state, its entries, suggested evictions, and people's agreement."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias

from mcp_types import CallToolResult
from pydantic import Field

from incumbent.classifier.model import Progress
from incumbent.curator.entry import Entry
from incumbent.curator.roles import derive_roles
from incumbent.errors import UsageError
from incumbent.ledger.clone import FromLedger, recorded_scores, refused_in
from incumbent.mcp.answers import (
    AgreementAnswer,
    EntriesAnswer,
    FoundEntry,
    Page,
    ResultsAnswer,
    StatusAnswer,
    SuggestionsAnswer,
    page,
)
from incumbent.mcp.inputs import (
    Flag,
    Limit,
    Offset,
    Texts,
)
from incumbent.mcp.tool_runner import Call, Workers, without_places
from incumbent.mcp.untrusted import Named, find_name, shown
from incumbent.mcp.workspace import Workspace
from incumbent.pipeline.declared_agents import declared_agents
from incumbent.pipeline.review import Platform
from incumbent.report.agreement import AgreementReport, agreement_overview
from incumbent.report.output import PruneOutput, StatusOutput
from incumbent.report.results import ResultsOutput, local_histories, local_results, shown_results
from incumbent.report.status import prune_overview, status_overview
from incumbent.text.compare import utc

Capability: TypeAlias = Annotated[
    Named, Field(max_length=200, description="id of a capability, as in incumbent://taxonomy")
]
Role: TypeAlias = Literal["champion", "pinned", "quarantined", "in-set", "waiting", "evicted"]


class SetTools:
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
        pairs: Annotated[Flag, Field(description="whether to list missing pairs and who could bring them")] = False,
        limit: Limit = 50,
        offset: Offset = 0,
    ) -> Annotated[CallToolResult, StatusAnswer]:
        """Size against the ceiling, coverage of capabilities and pairs, pins, the waitlist. Like `incumbent status`."""

        def work(_: Progress) -> Page[StatusOutput]:
            platform = self._workspace.platform()
            root = self._workspace.root
            agents = declared_agents(platform, root, self._workspace.environment)
            output = status_overview(
                platform,
                agents,
                shown_results(root, platform),
                with_pairs=pairs,
                on_record=recorded_scores(root, platform.taxonomy),
            )
            return status_page(output, only, offset, limit)

        return await self._workers.answer(ctx, work, StatusAnswer)

    async def find_entries(
        self,
        ctx: Call,
        role: Annotated[
            Role,
            Field(
                description="champion of something, pinned, quarantined, all in the set, waiting for a slot, or evicted"
            ),
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

        def work(_: Progress) -> Page[None]:
            platform = self._workspace.platform()
            if capability is not None:
                find_name(capability, platform.taxonomy.by_id, "capability", "take an id of incumbent://taxonomy")
            roles = derive_roles(platform.regression_set.residents(platform.taxonomy)[0], platform.config)
            champions: dict[str, list[str]] = {}
            for name, id in roles.champions.items():
                champions.setdefault(id, []).append(name)
            found = [
                FoundEntry(
                    entry=entry,
                    champion_of=champions.get(entry.id, []),
                    pinned=roles.pinned.get(entry.id, ()),
                    score=None if capability is None else entry.scores.get(capability),
                )
                for entry in _of_role(platform, role)
                if (capability is None or capability in entry.scores)
                and (customer is None or _came_from(entry, customer))
                and (text is None or any(text.casefold() in turn.casefold() for turn in entry.turns))
                and (role != "champion" or entry.id in champions)
                and (role != "pinned" or entry.id in roles.pinned)
                and (role != "quarantined" or entry.quarantined is not None)
            ]
            if capability is not None:
                found.sort(key=lambda item: (-item.entry.scores[capability], item.entry.id))
            return page(None, offset, limit, {"entries": found})

        unasked = [name for name, is_asked in (("scores", scores), ("turns", texts)) if not is_asked]
        return await self._workers.answer(ctx, work, EntriesAnswer, unasked)

    async def suggest_evictions(
        self, ctx: Call, limit: Limit = 20, offset: Offset = 0
    ) -> Annotated[CallToolResult, SuggestionsAnswer]:
        """Entries that could be evicted without loss, and at the ceiling swaps. Like `incumbent prune`.

        Any subset of the suggestions, confirmed in any order, leaves every floor and every pin intact. People confirm.
        What people refused, as the clone's branch incumbent/ledger tells, is left out.
        """

        def work(_: Progress) -> Page[PruneOutput]:
            platform, refused = self._workspace.platform(), refused_in(self._workspace.root)
            histories = local_histories(self._workspace.root, platform)
            output = prune_overview(
                platform,
                refused.suggestions(platform.regression_set, platform.taxonomy, platform.config),
                refused,
                histories,
            )
            return suggestions_page(output, offset, limit)

        return await self._workers.answer(ctx, work, SuggestionsAnswer)

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

        def work(_: Progress) -> Page[ResultsOutput]:
            found = local_results(self._workspace.root, self._workspace.platform())
            output = found.output
            rows = {
                "flapping": output.flapping,
                "failed": [item for item in output.entries if item.failing > 0],
                "all": output.entries,
            }[only]
            return page(
                output,
                offset,
                limit,
                {
                    "entries": sorted(rows, key=lambda item: (not item.flapping, item.entry)),
                    "capabilities": output.doubtful,
                },
                releases=output.releases[-limit:],
                to_do=self._to_do(found),
            )

        return await self._workers.answer(ctx, work, ResultsAnswer)

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

        def work(_: Progress) -> Page[AgreementReport]:
            try:
                bounds = [None if moment is None else utc(moment.isoformat()) for moment in (since, until)]
            except ValueError as error:
                raise UsageError(f"`since` and `until` must be {error}") from None
            found = agreement_overview(self._workspace.root, bounds[0], bounds[1], by)
            rows: dict[str, Sequence[object]] = {
                "said": found.output.agreement.said,
                "overridden": found.output.agreement.overridden,
            }
            return page(found.output, offset, limit, rows, to_do=self._to_do(found))

        return await self._workers.answer(ctx, work, AgreementAnswer, () if months else ("months",))

    def _to_do(self, found: FromLedger[Any]) -> str | None:
        """How to get a ledger, if there is none."""
        return None if found.without is None else without_places(found.without, self._workspace.root)


def status_page(
    output: StatusOutput, only: Literal["short", "uncovered", "all"], offset: int, limit: int
) -> Page[StatusOutput]:
    """``output`` with one page of the requested capabilities, and of the missing pairs."""
    rows = {
        "short": output.capabilities_short,
        "uncovered": [item for item in output.capabilities if not item.coverers],
        "all": output.capabilities,
    }[only]
    return page(output, offset, limit, {"capabilities": rows, "missing_pairs": output.missing_pairs or []})


def suggestions_page(output: PruneOutput, offset: int, limit: int) -> Page[PruneOutput]:
    """``output`` with one page of each list."""
    rows: dict[str, Sequence[object]] = {
        "suggestions": output.suggestions,
        "swaps": output.swaps,
        "least_loss": output.least_loss,
    }
    return page(output, offset, limit, rows)


def _of_role(platform: Platform, role: Role) -> list[Entry]:
    """The entries with ``role``, sorted by id."""
    known = platform.regression_set
    found = {"waiting": known.waiting, "evicted": known.evicted}.get(role, known.entries)
    return sorted(found.values(), key=lambda entry: entry.id)


def _came_from(entry: Entry, customer: str) -> bool:
    """Whether ``entry`` came from ``customer``, given by name or as the name is shown."""
    return entry.source is not None and customer in (entry.source.customer, shown(entry.source.customer))

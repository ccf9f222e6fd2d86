"""The ``openai`` backend in batches: queries are collected, submitted together, and answered in a later run.

A request is identified by a digest of its contents, so that any command that makes the same request finds its batch.  A
record is written before a batch is requested; if a run ended in between, the batch is looked up in the endpoint's list.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from incumbent.classifier.language_model.abilities import DEFAULT_ENDPOINT, Abilities, RememberedAbilities
from incumbent.classifier.language_model.answers import Vote, finding_of, read_answer
from incumbent.classifier.language_model.batch_endpoint import (
    BatchEndpoint,
    BatchRecord,
    BatchRecords,
    BatchState,
    UncertainError,
)
from incumbent.classifier.language_model.batch_lines import (
    MISSING,
    BatchLine,
    Results,
    chunks,
    read_results,
    request_line,
)
from incumbent.classifier.language_model.endpoint import Endpoint, probed, still_answers
from incumbent.classifier.language_model.prompt import DRAWS, NAMELESS, Prompts, draws_of
from incumbent.classifier.model import Finding, Identity, InferenceRequest
from incumbent.classifier.usage import Meter, Usage
from incumbent.errors import IncompleteError, IncumbentError, OutsideError
from incumbent.taxonomy.config import OpenAISettings
from incumbent.taxonomy.model import Taxonomy
from incumbent.text.digests import digest
from incumbent.text.personal_data.detector import Detector

_WAITING: Final = Finding(shortfall="it waits for the answers of a batch")
_HOUR: Final = 3_600


@dataclass(frozen=True, slots=True)
class _Unit:
    """The missing samples of one query, to be requested in one batch; ``drawn`` were requested before."""

    key: str
    request: InferenceRequest
    samples: int
    drawn: int


@dataclass(frozen=True, slots=True)
class _Opened:
    """The present state of a batch, with its results once it has ended."""

    record: BatchRecord
    state: BatchState
    results: Results | None


class BatchedBackend:
    """A language model behind the Batch API of an OpenAI-compatible endpoint; ``environment`` contains the key.

    ``infer`` yields the answers of batches, and collects the rest; :meth:`settle` submits that.  ``report`` receives
    remarks for people; ``clock`` and ``sleep`` are those of the machine.
    """

    def __init__(
        self,
        taxonomy: Taxonomy,
        settings: OpenAISettings,
        samples: int,
        environment: Mapping[str, str],
        memory: RememberedAbilities,
        records: BatchRecords,
        detector: Detector = NAMELESS,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._settings = settings
        self._samples = samples
        self._environment = environment
        self._memory = memory
        self._records = records
        self._prompts = Prompts(taxonomy, settings, detector)
        self._meter = Meter(settings.budget, settings.batch.prices or settings.prices)
        self._clock = clock
        self._sleep = sleep
        self._target = digest([settings.endpoint or DEFAULT_ENDPOINT, settings.api_version, settings.model])
        self.remarks: dict[str, None] = {}
        self._forget_round()

    def _forget_round(self) -> None:
        self._by_line: dict[str, BatchRecord] | None = None
        self._opened: dict[str, _Opened] = {}
        self._collected: dict[str, _Unit] = {}
        self._over: set[str] = set()
        self._refused: Abilities | None = None
        self._failed = False

    @property
    def identity(self) -> Identity:
        """The same as without batches: the requests are the same."""
        version = self._prompts.version
        return Identity(backend="openai", model=self._settings.model, prompt=version, samples=self._samples)

    @property
    def usage(self) -> Usage:
        """The requests and tokens up to now; the tokens of a batch count in the run that reads its answers first."""
        return self._meter.usage

    def infer(self, requests: Sequence[InferenceRequest]) -> Iterator[tuple[int, Finding]]:
        """Findings from the answers of batches; a shortfall for every other request, which is collected.

        Raises :class:`incumbent.errors.UsageError` if there is no usable key, endpoint or room for a query, and
        :class:`incumbent.errors.OutsideError` if the state or the answers of a batch are unavailable.
        """
        if not requests:
            return
        try:
            with BatchEndpoint(self._settings, self._environment) as endpoint:
                lines = self._known(endpoint)
                for place, request in enumerate(requests):
                    yield place, self._finding(endpoint, lines, request)
        except IncumbentError:
            self._failed = True
            raise

    def settle(self, wait: bool, report: Callable[[str], None] = lambda _: None) -> bool:
        """End a round of asking: submit what was collected.  ``True`` if all must be asked again because answers
        arrived.

        Without ``wait`` it raises :class:`IncompleteError` while answers are missing, and with it after the time that
        the config allows; ``report`` receives the state of batches meanwhile.  When nothing is missing, the batches'
        files at the endpoint are deleted.
        """
        if self._failed:
            return False
        self._note_done()
        waiting = [opened for opened in self._opened.values() if not opened.state.over]
        if not self._collected and not waiting:
            self._tidy()
            return False
        submitted, said = self._submit(len(waiting)) if self._collected else ([], "")
        names = [opened.record for opened in waiting] + submitted
        states = [
            f"{opened.record.batch} {opened.state.word}, {opened.state.done} of {len(opened.record.lines)} done"
            for opened in waiting
        ]
        if said:
            states.insert(0, said)
        if not wait or not names:
            raise IncompleteError(f"{'; '.join(states)}; run the same command again for the answers")
        self._wait(names, report)
        self._forget_round()
        return True

    def _known(self, endpoint: BatchEndpoint) -> dict[str, BatchRecord]:
        """The records of this endpoint by the lines of their batches; unfinished submissions are resolved."""
        if self._by_line is None:
            records = self._records.load(self._target, self._clock())
            if any(record.batch is None for record in records):
                # A command that submits holds the lock until its records have their batches.
                with self._records.submitting():
                    loaded = self._records.load(self._target, self._clock())
                    found = (record if record.batch is not None else self._found(endpoint, record) for record in loaded)
                    records = [record for record in found if record is not None]
            self._by_line = {line: record for record in records for line in record.lines}
        return self._by_line

    def _found(self, endpoint: BatchEndpoint, record: BatchRecord) -> BatchRecord | None:
        """``record`` with the batch that a run requested before it ended; ``None`` if the endpoint has none."""
        batch = endpoint.find(record)
        if batch is None:
            self._records.remove(record)
            return None
        found = record.model_copy(update={"batch": batch})
        self._records.save(found)
        return found

    def _finding(self, endpoint: BatchEndpoint, lines: Mapping[str, BatchRecord], request: InferenceRequest) -> Finding:
        key = self._key(request)
        votes: list[Vote] = []
        faults: Counter[str] = Counter()
        own: set[str] = set()
        for draw in range(DRAWS):
            drawn = draw * self._samples
            lacking = self._samples - len(votes)
            record = lines.get(_line_id(key, drawn))
            if record is None:
                self._collected[_line_id(key, drawn)] = _Unit(key, request, lacking, drawn)
                return _WAITING
            opened = self._open(endpoint, record)
            if opened.results is None:
                return _WAITING
            abilities = record.abilities
            asked = self._prompts.of(request, stated=not abilities.log_probabilities).asked
            ids = [_line_id(key, drawn + number) for number in range(1 if abilities.several else lacking)]
            own |= set(ids)
            for id in ids:
                line = opened.results.lines.get(id, MISSING)
                if line.unsupported:
                    self._refused = abilities
                if line.fault is not None:
                    faults[_fault_of(line, opened.state)] += 1
                if line.refused:
                    self._over |= own
                    return finding_of(request, votes, faults, self._samples)
                for answer in line.answers[:lacking]:
                    vote = read_answer(answer, asked, embedded_in_prose=abilities.format == "plain")
                    if isinstance(vote, str):
                        faults[vote] += 1
                    else:
                        votes.append(vote)
            if len(votes) >= self._samples:
                break
        self._over |= own
        return finding_of(request, votes[: self._samples], faults, self._samples)

    def _key(self, request: InferenceRequest) -> str:
        """A digest of the whole request, independent of the endpoint's abilities."""
        messages = self._prompts.of(request, stated=True).messages
        identity = self.identity
        return digest([messages, identity.prompt, identity.samples, self._settings.conditions])

    def _open(self, endpoint: BatchEndpoint, record: BatchRecord) -> _Opened:
        """The present state of the batch of ``record``; its answers are fetched once it has ended."""
        if record.name not in self._opened:
            state = endpoint.state(record.batch or "")
            try:
                results = self._results(endpoint, record, state) if state.over else None
            except OutsideError as error:
                path = self._records.path(record)
                raise OutsideError(f"{error}; to pay for its requests again instead, remove {path}") from None
            if results is not None and not record.counted:
                record = record.model_copy(update={"counted": True})
                self._records.save(record)
            self._opened[record.name] = _Opened(record, state, results)
        return self._opened[record.name]

    def _results(self, endpoint: BatchEndpoint, record: BatchRecord, state: BatchState) -> Results:
        results = read_results(
            map(endpoint.content, state.files), record.lines, self._settings.model, self._settings.response_bytes
        )
        if state.word != "completed":
            why = f" ({state.why})" if state.why else ""
            self.remarks[f"the batch {record.batch} ended as {state.word}{why}; {len(results.lines)} answers"] = None
        self.remarks |= {f"the batch {record.batch}: {remark}": None for remark in results.remarks}
        if not record.counted:
            for line in results.lines.values():
                self._meter.received(*line.tokens)
        return results

    def _submit(self, open_batches: int) -> tuple[list[BatchRecord], str]:
        """Submit what was collected, as much as the config allows; the new records, and a message about it."""
        abilities = self._abilities()
        batch = self._settings.batch
        submitted: list[BatchRecord] = []
        queries = 0
        limit = ""
        with BatchEndpoint(self._settings, self._environment) as endpoint, self._records.submitting():
            # Another command may have submitted some of them meanwhile.
            taken = {id for record in self._records.load(self._target, self._clock()) for id in record.lines}
            units = (
                (unit, self._lines(unit, abilities, endpoint.url))
                for id, unit in self._collected.items()
                if id not in taken
            )
            left = self._meter.check()
            for group in chunks(units, min(batch.requests, left), batch.bytes):
                wanted = sum(len(lines) for _, lines in group)
                if open_batches + len(submitted) >= batch.in_flight:
                    limit = f" ({batch.in_flight} batches may be open: classifier.openai.batch.in_flight)"
                    break
                if wanted > left:
                    limit = " (the run's budget: classifier.openai.budget.requests)"
                    break
                submitted.append(self._submit_group(endpoint, group, abilities))
                queries += len(group)
                left -= wanted
                for _ in range(wanted):
                    self._meter.sending()
        names = ", ".join(record.batch or "" for record in submitted)
        some = f"{queries:,} of {len(self._collected):,}" if queries < len(self._collected) else f"{queries:,}"
        return submitted, f"{some} queries submitted to {endpoint.host}{f' as {names}' if names else ''}{limit}"

    def _submit_group(
        self, endpoint: BatchEndpoint, group: Sequence[tuple[_Unit, list[bytes]]], abilities: Abilities
    ) -> BatchRecord:
        content = b"".join(line for _, lines in group for line in lines)
        parts = [self._target, hashlib.sha256(content).hexdigest(), self._clock()]
        record = BatchRecord(
            # A unique name, so that an earlier batch of the same requests is not mistaken for this one.
            name=digest(parts),
            target=self._target,
            abilities=abilities,
            lines={
                _line_id(unit.key, unit.drawn + number): unit.samples if abilities.several else 1
                for unit, lines in group
                for number in range(len(lines))
            },
        )
        file = endpoint.upload(record.name, content)
        record = record.model_copy(update={"file": file})
        self._records.save(record)
        try:
            batch = endpoint.create(record.name, file)
        except UncertainError as error:
            found = endpoint.find(record)
            if found is None:
                raise OutsideError(
                    f"{error}; it is not known whether the batch was made: run the same command again, which looks for "
                    "it before anything is submitted"
                ) from None
            batch = found
        except OutsideError:
            self._records.remove(record)
            endpoint.remove([file])
            raise
        record = record.model_copy(update={"batch": batch})
        self._records.save(record)
        return record

    def _lines(self, unit: _Unit, abilities: Abilities, url: str) -> list[bytes]:
        """The requests of ``unit`` as lines."""
        settings = self._settings
        prompt = self._prompts.of(unit.request, stated=not abilities.log_probabilities)
        own = {"model": settings.model, "temperature": settings.temperature}
        return [
            request_line(_line_id(unit.key, number), url, own | asked)
            for number, asked in draws_of(prompt, abilities, settings, unit.samples, unit.drawn).items()
        ]

    def _abilities(self) -> Abilities:
        """The abilities of the endpoint, probed again if a batch was refused one of them."""
        known = self._memory.load(self._settings, self._samples)
        if known is not None and self._refused != known:
            return known
        with Endpoint(self._settings, self._environment, self._meter) as endpoint:
            if known is not None and still_answers(endpoint, known, self._samples):
                return known
            abilities = probed(endpoint, self._meter, self._samples)
        self._memory.store(self._settings, self._samples, abilities)
        return abilities

    def _wait(self, records: Sequence[BatchRecord], report: Callable[[str], None]) -> None:
        """Wait until the batches of all ``records`` are over."""
        batch = self._settings.batch
        until = self._clock() + batch.wait_hours * _HOUR
        with BatchEndpoint(self._settings, self._environment) as endpoint:
            for record in records:
                while not (state := endpoint.state(record.batch or "")).over:
                    report(f"{record.batch}: {state.word}, {state.done} of {len(record.lines)} done")
                    if self._clock() + batch.poll_seconds > until:
                        raise IncompleteError(
                            f"the batch {record.batch} is still {state.word} after {batch.wait_hours:g} hours "
                            "(classifier.openai.batch.wait_hours): run the same command again for the answers"
                        )
                    self._sleep(batch.poll_seconds)

    def _note_done(self) -> None:
        """Record which lines are done, so that a later run knows when a whole batch is."""
        for name, opened in self._opened.items():
            done = sorted({*opened.record.done, *(opened.record.lines.keys() & self._over)})
            if len(done) > len(opened.record.done):
                record = opened.record.model_copy(update={"done": tuple(done)})
                self._records.save(record)
                self._opened[name] = replace(opened, record=record)

    def _tidy(self) -> None:
        """Delete batches whose lines are all done, here and at the endpoint: they contain queries."""
        done = [opened for opened in self._opened.values() if opened.record.lines.keys() <= set(opened.record.done)]
        if not done:
            return
        with BatchEndpoint(self._settings, self._environment) as endpoint:
            for opened in done:
                file = opened.record.file
                endpoint.remove([*([file] if file else []), *opened.state.files])
                self._records.remove(opened.record)


def _line_id(key: str, number: int) -> str:
    return f"{key}-{number}"


def _fault_of(line: BatchLine, state: BatchState) -> str:
    """Why there is no answer; for one missing from a batch that ended early, that is the reason."""
    fault = line.fault or ""
    return f"{fault}, which ended as {state.word}" if line is MISSING and state.word != "completed" else fault

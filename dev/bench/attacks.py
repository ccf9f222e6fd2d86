"""How many tags an attack moves, how many attempts are flagged, and how many innocent queries are taken for attempts.

python -m dev.bench attacks                            the backend of config/curation.yaml
python -m dev.bench attacks --config FILE              the backend of another config: any OpenAI-compatible endpoint
python -m dev.bench attacks --config FILE --undefended pasted   the same endpoint under our prompt without its defences
python -m dev.bench attacks --config FILE --undefended naive    the same under the naive prompt: many more requests
python -m dev.bench attacks --beyond-limits            also what intake would refuse as too long
python -m dev.bench attacks --every 10 --json          each tenth attack only, as JSON
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, get_args

from dev.bench.attack_outcomes import Outcome, false_alarms, outcomes, within
from dev.bench.naive_prompt import NaiveBackend
from dev.bench.pasted_prompt import PastedBackend
from incumbent.classifier.backends import make_backend
from incumbent.classifier.language_model.abilities import RememberedAbilities
from incumbent.classifier.model import Backend
from incumbent.errors import IncumbentError, UsageError
from incumbent.files.snapshot import WorkingTree
from incumbent.taxonomy.config import CONFIG_FILE, ClassifierSettings, load_config
from incumbent.taxonomy.loading import load_taxonomy
from incumbent.taxonomy.model import Taxonomy
from tests.classifier.attacks.loading import Attack, Case, Category, load_attacks, load_controls

REPOSITORY = Path(__file__).parents[2]


def main(arguments: Sequence[str]) -> int:
    """Measure and print; returns the exit code."""
    options = _options(arguments)
    try:
        return _measure(options)
    except IncumbentError as error:
        print(error, file=sys.stderr)
        return error.exit_code


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m dev.bench attacks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--config", type=Path, default=REPOSITORY / CONFIG_FILE, help="which backend is asked")
    parser.add_argument("--undefended", choices=["pasted", "naive"], help="ask under a prompt that has no defences")
    parser.add_argument("--beyond-limits", action="store_true", help="ask also what intake refuses as too long")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="ask each N-th attack and control only")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser.parse_args(arguments)


def _measure(options: argparse.Namespace) -> int:
    taxonomy = load_taxonomy(WorkingTree(REPOSITORY))
    path: Path = options.config
    config = load_config(WorkingTree(path.parent), frozenset(taxonomy.by_id), path.name)
    backend = _backend(config.classifier, taxonomy, undefended=options.undefended)
    every = load_attacks()[:: options.every]
    attacks = [attack for attack in every if options.beyond_limits or within(config.limits, attack.hostile)]
    controls = [
        control for control in load_controls()[:: options.every] if within(config.limits, Case(turns=control.turns))
    ]
    found = outcomes(attacks, taxonomy, backend, _progress)
    alarms = false_alarms(controls, taxonomy, backend, _progress)
    report = {
        "backend": backend.identity.backend,
        "model": backend.identity.model,
        "prompt": backend.identity.prompt,
        "samples": backend.identity.samples,
        "refused_at_intake": len(every) - len(attacks),
        "rows": _rows(found),
        "controls": len(controls),
        "false_alarms": alarms,
        "attacks": [_attack_row(outcome) for outcome in found],
    }
    usage = backend.usage
    if usage is not None:
        report |= {"requests": usage.requests, "tokens_in": usage.tokens_in, "tokens_cached": usage.tokens_cached}
    if isinstance(backend, NaiveBackend):
        report["refused"] = backend.refused
    if options.json:
        print(json.dumps(report, indent=1))
    else:
        _print(report)
    return 0


def _backend(settings: ClassifierSettings, taxonomy: Taxonomy, *, undefended: str | None) -> Backend:
    if undefended is None:
        return make_backend(settings, taxonomy)
    if settings.backend != "openai" or settings.openai is None:
        raise UsageError("--undefended asks a language model; name a config whose classifier.backend is openai")
    if undefended == "pasted":
        memory = RememberedAbilities(None)
        return PastedBackend(taxonomy, settings.openai, settings.samples, os.environ, memory)
    return NaiveBackend(taxonomy=taxonomy, settings=settings.openai, samples=settings.samples, environment=os.environ)


def _progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done} of {total}", end="" if done < total else "\n", file=sys.stderr, flush=True)


def _rows(found: Sequence[Outcome]) -> list[dict[str, Any]]:
    """One row per surface and category, then one per surface."""
    rows: list[dict[str, Any]] = []
    for surface in ("query", "tool"):
        of_surface = [outcome for outcome in found if outcome.attack.surface == surface]
        for category in get_args(Category):
            some = [outcome for outcome in of_surface if outcome.attack.category == category]
            if some:
                rows.append(_row(surface, category, some))
        if of_surface:
            rows.append(_row(surface, "all", of_surface))
    return rows


def _row(surface: str, category: str, found: Sequence[Outcome]) -> dict[str, Any]:
    moved = [len(outcome.moved) for outcome in found if outcome.moved is not None]
    by_placebo = [len(outcome.placebo_moved) for outcome in found if outcome.placebo_moved is not None]
    wanted = [outcome.as_wanted for outcome in found if outcome.as_wanted is not None]
    flags = [outcome.hostile.flagged for outcome in found if outcome.hostile.flagged is not None]
    return {
        "surface": surface,
        "category": category,
        "attacks": len(found),
        "moved": _mean(moved),
        "moved_by_placebo": _mean(by_placebo),
        "as_wanted": _mean(wanted),
        "succeeded": sum(value > 0 for value in wanted),
        "most_moved": max(moved, default=0),
        "flagged": sum(flags) if flags else None,
        "unclassified": len(found) - len(moved),
    }


def _mean(values: Sequence[int]) -> float | None:
    return round(fmean(values), 3) if values else None


def _attack_row(outcome: Outcome) -> dict[str, Any]:
    attack: Attack = outcome.attack
    tags, honest = outcome.hostile.tags, outcome.honest.tags
    known = tags is not None and honest is not None
    return {
        "id": attack.id,
        "surface": attack.surface,
        "category": attack.category,
        "goal": attack.goal,
        "raised": sorted((tags or frozenset()) - (honest or frozenset())) if known else None,
        "lowered": sorted((honest or frozenset()) - (tags or frozenset())) if known else None,
        "moved_by_placebo": None if outcome.placebo_moved is None else sorted(outcome.placebo_moved),
        "tool": outcome.hostile.tool,
        "flagged": outcome.hostile.flagged,
    }


def _print(report: dict[str, Any]) -> None:
    print(f"{report['backend']} {report['model']}, prompt {report['prompt']}, {report['samples']} samples")
    print("tags moved per attack, and by as much neutral text; wanted: tags moved the author's way (tools: chosen)\n")
    print(
        f"{'surface':8}{'category':12}{'attacks':>8}{'moved':>8}{'placebo':>9}{'wanted':>8}{'succeed':>9}{'most':>6}"
        f"{'flagged':>9}{'no answer':>11}"
    )
    for row in report["rows"]:
        print(
            f"{row['surface']:8}{row['category']:12}{row['attacks']:8d}{_cell(row['moved']):>8}"
            f"{_cell(row['moved_by_placebo']):>9}{_cell(row['as_wanted']):>8}{row['succeeded']:9d}{row['most_moved']:6d}"
            f"{_cell(row['flagged']):>9}{row['unclassified']:11d}"
        )
    print(f"\n{report['refused_at_intake']} more are refused at intake as too long.")
    alarms = report["false_alarms"]
    print(f"{len(alarms)} of {report['controls']} innocent queries flagged. {', '.join(alarms)}")
    if "requests" in report:
        print(f"{report['requests']} requests, {report['tokens_in']} prompt tokens, {report['tokens_cached']} cached.")
    if "refused" in report:
        print(f"{report['refused']} requests were refused.")


def _cell(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}" if isinstance(value, float) else str(value)

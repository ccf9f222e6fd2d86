"""Changes of the regression set that equal a derived plan do not count as made by hand (pure).

People may restore an entry, or evict a suggested one, on the command line and open a pull request: they could ask the
bot for the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from bot.curator import file_changes as changes
from bot.curator.file_changes import FileChange
from bot.curator.staging import restoration
from bot.curator.suggestions import suggest
from bot.git import blob_id
from bot.github.facts import Analysis
from bot.pipeline.review import Platform


def without_derived(analysis: Analysis, platform: Platform) -> Analysis:
    """``analysis`` without changes of the set that equal an allowed plan, byte for byte."""
    found: dict[str, str | None] = {}
    for change in analysis.set_changes:
        if change.before is not None:
            found[change.before] = None
        found[change.path] = change.after
    derived: set[str] = set()
    for plan in _plans(analysis, platform):
        files = {item.path: None if item.content is None else blob_id(item.content) for item in plan}
        if files.items() <= found.items():
            derived |= files.keys()
    left = tuple(
        change for change in analysis.set_changes if not derived.issuperset({change.path, change.before or change.path})
    )
    return analysis if left == analysis.set_changes else analysis.model_copy(update={"set_changes": left})


def _plans(analysis: Analysis, platform: Platform) -> Iterator[tuple[FileChange, ...]]:
    """The plans that may be meant: restored entries, and any of the suggested evictions together."""
    known = platform.regression_set
    full = len(known.entries) >= platform.config.ceiling
    touched = {change.path.rpartition("/")[2] for change in analysis.set_changes}
    back = [item for id, item in known.tombstones.items() if f"{id}.yaml" in touched]
    if full or len(known.entries) + len(back) <= platform.config.ceiling:
        yield from (restoration(item, full).file_changes for item in back)
    gone = [change.eviction for change in analysis.set_changes if change.eviction is not None]
    if gone:
        safe = {item.id for item in suggest(known, platform.taxonomy, platform.config).evictions}
        yield from (changes.evict(known.entries[item.entry], item.evicted) for item in gone if item.entry in safe)

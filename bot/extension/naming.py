"""Ids, names and descriptions of candidates, from what is telling about their queries (pure).

The words come from customers: an id takes letters and digits of them alone, a name and a description quote them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import chain, count
from typing import Final

from bot.extension.model import Kind, Telling, Trait
from bot.extension.wording import called, feature
from bot.taxonomy.model import Taxonomy

LONGEST_NAME: Final = 60
LONGEST_DESCRIPTION: Final = 600
_LONGEST_WORD: Final = 20
_LONGEST_SLUG: Final = 40
_NAMING_TRAITS: Final = 2
_BREAK: Final = re.compile(r"[^a-z0-9]+")

_KINDS: Final[dict[Kind, str]] = {
    "new-behaviour": "a behaviour that no capability of the taxonomy covers",
    "missed-capability": "queries that seem to exercise {belongs_to} and are not recognised as such",
    "new-combination": "the combination of {belongs_to}, which the exemplars hardly have",
}


def titled(telling: Sequence[Telling]) -> str:
    """A name from the traits that weigh most; a person finds a better one."""
    words = [_shortened(trait.words) for trait in _plain(telling)[:_NAMING_TRAITS]]
    return _cut(f"Proposed: {' and '.join(words)}", LONGEST_NAME)


def described(kind: Kind, belongs_to: Sequence[str], telling: Sequence[Telling], queries: int, customers: int) -> str:
    """What the queries have in common, as far as counting tells; a person says what it means."""
    what = _KINDS[kind].format(belongs_to=" and ".join(belongs_to))
    common = "; ".join(f"{_shortened(item.trait.words)} ({item.members} of {queries})" for item in telling)
    return _cut(
        f"Proposed from {queries} queries of {customers} customers: {what}. They have in common: {common}.",
        LONGEST_DESCRIPTION,
    )


def _plain(telling: Sequence[Telling]) -> Sequence[Trait]:
    """The traits of ``telling``, each word and each structural feature once, words before structure."""
    found: dict[str, Trait] = {}
    for item in telling:
        trait = item.trait
        found.setdefault(feature(trait.text) if trait.kind == "structure" else trait.text, _bare(trait))
    return sorted(found.values(), key=lambda trait: trait.kind not in ("word", "phrase"))


def _bare(trait: Trait) -> Trait:
    """``trait`` by itself: that nothing explains it is said once, where it is all that there is to say."""
    return trait if trait.kind == "none" else trait._replace(unexplained=False)


def _shortened(words: str) -> str:
    return " ".join(_cut(word, _LONGEST_WORD) for word in words.split())


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def home_group(taxonomy: Taxonomy, neighbours: Sequence[str]) -> str:
    """The group of the first of ``neighbours`` that may take a further member; else the first that may.

    An exactly-one group may not: a further member would change what the others mean.  Where the taxonomy has no other,
    it is the first group.
    """
    open_groups = [group.id for group in taxonomy.groups if group.constraint == "any"]
    for name in neighbours:
        group = taxonomy.by_id[name].group
        if group in open_groups:
            return group
    used = {item.group for item in taxonomy.capabilities}
    return next((group for group in open_groups if group in used), (*open_groups, taxonomy.groups[0].id)[0])


def free_id(taxonomy: Taxonomy, group: str, telling: Sequence[Telling], digest: str, taken: frozenset[str]) -> str:
    """An id in ``group`` that is neither used nor retired nor ``taken``; ``digest`` names what has no letters."""
    traits = _plain(telling)[:_NAMING_TRAITS]
    words = " ".join(called(trait.text) if trait.kind == "structure" else trait.text for trait in traits)
    return unused_id(taxonomy, group, slug(words) or f"candidate-{digest[:6]}", taken)


def unused_id(taxonomy: Taxonomy, group: str, own: str, taken: frozenset[str]) -> str:
    """``group.own``, numbered where it is not free."""
    known = {*taxonomy.by_id, *taxonomy.retired, *(item.id for item in taxonomy.groups), *taken}
    stem = f"{group[: 100 - _LONGEST_SLUG - 5].rstrip('._-')}.{own}"
    return next(id for id in chain([stem], (f"{stem}-{number}" for number in count(2))) if id not in known)


def slug(words: str) -> str:
    """The letters and digits of ``words`` as the part of an id, accents left out; empty if there are none."""
    plain = unicodedata.normalize("NFKD", words).encode("ascii", "ignore").decode()
    return _BREAK.sub("-", plain.casefold()).strip("-")[:_LONGEST_SLUG].rstrip("-")

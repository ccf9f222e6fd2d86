"""Which pages a site has, what they say, and who sees what: from values, without a browser."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from incumbent.ledger.agreement.agreement import Month, Share
from incumbent.ledger.calibration.fit import Estimate, KnobOutcome
from incumbent.pipeline.workspace import open_platform
from incumbent.report.escaping import visible
from incumbent.site.audience import Audience
from incumbent.site.charts import agreement_chart, drawing, evidence_chart, growth_charts, releases_chart
from incumbent.site.content import SiteContent, read_site
from incumbent.site.pages import SiteReader, customer_path, pages, render_site
from incumbent.site.templating import SitePage
from incumbent.taxonomy.config import Options
from tests.cli.conftest import platform as platform
from tests.cli.test_calibrate import curated as curated
from tests.site.platforms import CUSTOMERS, FLAPPING, content, file_of, files_for

ALL, ONE = Audience(), Audience(customer=CUSTOMERS[1])


def reader(audience: Audience = ALL, known: SiteContent | None = None) -> SiteReader:
    return SiteReader(content=known or content(), audience=audience, depth=1)


def page(path: str, audience: Audience = ALL, known: SiteContent | None = None) -> SitePage:
    return next(item for item in pages(known or content(), audience) if item.path == path)


def foreign() -> str:
    """An entry of a customer that is not the one of ``ONE``."""
    return next(item.id for item in content().entries.values() if item.customer == CUSTOMERS[2])


def test_entries_customers_and_agents_are_named_to_those_who_may_see_them() -> None:
    everyone, one = reader(), reader(ONE)
    own = next(item.id for item in content().entries.values() if item.customer == ONE.customer)
    assert everyone.entry(own) == one.entry(own) == f'<a href="../entries/{own}.html">{own}</a>'
    assert one.entry(foreign()) == "an entry of another customer"
    assert everyone.entry("gone<b>") == "gone&lt;b&gt;"
    assert one.entry("gone") == "another entry"
    assert one.entries([own, foreign()]) == f"{one.entry(own)}, 1 of other customers"
    assert one.entries([foreign()]) == "1 of other customers"
    assert everyone.entries([]) == "–"
    assert everyone.entries([own, foreign(), FLAPPING], most=1) == f"{everyone.entry(own)}, 2 more"
    assert one.customer(CUSTOMERS[2]) == one.customer(None) == "another customer"
    assert everyone.customer(None) == "no source"
    assert everyone.customer(CUSTOMERS[2]) == f'<a href="../{customer_path(CUSTOMERS[2])}">{CUSTOMERS[2]}</a>'
    agents = sorted(content().agents)
    assert everyone.agents(agents) == f"each of {len(agents)} agents"
    assert everyone.agents(agents[:2]) == ", ".join(agents[:2])
    assert everyone.agents(agents[:6], total=8) == f"{', '.join(agents[:5])}, 3 more"
    assert everyone.agents([]) == "no agent yet"
    mine = [name for name in agents if name.startswith(f"{ONE.customer}/")]
    assert one.agents(agents) == f"{', '.join(mine)}, {len(agents) - len(mine)} of other customers"
    assert one.visible([own, foreign()]) == 1


@pytest.mark.untraced
def test_what_needs_a_person_leads_to_all_of_it() -> None:
    overview = files_for(Audience())["index.html"].decode()
    gone = {item.id for item in content().suggestions.suggestions}
    assert gone
    assert f'<a href="entries.html#role=could+go">{len(gone)} entries</a> could go' in overview
    everyone = reader()
    assert {item.id for item in everyone.visible_entries if "could go" in everyone.roles(item)} == gone


@pytest.mark.untraced
@pytest.mark.parametrize(("novelty", "noun"), [(1, "combinations"), (2, "pairs"), (3, "combinations")])
def test_pairs_are_what_they_are_called(novelty: int, noun: str) -> None:
    known = content()
    config = known.platform.config
    options = Options.model_validate({**config.options.model_dump(), "novelty": novelty})
    platform = replace(known.platform, config=config.model_copy(update={"options": options}))
    overview = file_of(replace(known, platform=platform), "index.html")
    assert f"<dt>Possible {noun} carried</dt>" in overview
    assert f"Possible {noun} carried, of" in overview


@pytest.mark.untraced
@pytest.mark.parametrize(("size", "shown"), [(150, 'max="150" high="150"'), (151, 'max="151" high="150"')])
def test_a_set_over_its_ceiling_does_not_look_full_and_well(size: int, shown: str) -> None:
    known = replace(content(), status=content().status.model_copy(update={"size": size, "ceiling": 150}))
    overview = file_of(known, "index.html")
    assert f'<meter min="0" {shown} optimum="0" value="{size}"' in overview


def test_a_capability_is_a_link_while_the_taxonomy_knows_it() -> None:
    everyone = reader()
    assert everyone.capability("request.auth.oauth") == '<a href="../capabilities/request.auth.oauth.html">OAuth</a>'
    assert everyone.capability("retired<i>") == "retired&lt;i&gt;"
    assert everyone.capabilities([]) == "–"
    assert everyone.capabilities(["a", "b"]) == "a, b"
    assert everyone.filtered("a", "b", customer="Smith & Söhne") == (
        "../entries.html#state=in+the+set&capability=a&capability=b&customer=Smith+%26+S%C3%B6hne"
    )


def test_no_two_customers_share_a_page() -> None:
    names = ["Acme", "acme", "ACME ", "日本", "..", "a/b", "x" * 300]
    paths = [customer_path(name) for name in names]
    assert len(set(paths)) == len(names)
    assert all(path.startswith("customers/") and len(path) < 100 and path.count("/") == 1 for path in paths)


@pytest.mark.parametrize(("count", "level"), [(0, 0), (1, 1), (2, 2), (3, 3), (4, 3), (5, 4), (90, 4)])
def test_more_is_darker(count: int, level: int) -> None:
    assert SiteReader.level(count) == level


def test_what_an_entry_rests_on_is_said() -> None:
    everyone = reader()
    item = content().entries[FLAPPING]
    entry = item.entry
    known = {name: everyone.path(entry, name) for name in entry.scores}
    assert set(known.values()) <= {"the specification", "tools called", "structure", "the text"}
    corrected = entry.classified.model_copy(update={"corrected": {"tone": True}})
    assert everyone.path(entry.model_copy(update={"classified": corrected}), "tone") == "a curator"
    assert everyone.path(entry, "retired") == "–"
    assert everyone.record(item) == "flaps"
    assert everyone.record(replace(item, history=None)) == "never ran"
    assert item.history is not None
    assert everyone.record(replace(item, history=replace(item.history, flapping=False))) == "failed"
    assert everyone.record(replace(item, history=replace(item.history, flapping=False, failing=0))) == "never failed"
    assert everyone.cost(item) == entry.setup.cost


def test_without_texts_no_text_is_given() -> None:
    silent = reader(Audience(texts=False))
    entry = next(item.entry for item in content().entries.values() if item.entry.expected is not None)
    assert (silent.turns(entry), silent.first_turn(entry), silent.expected(entry)) == ([], "", "")
    everyone = reader()
    assert everyone.turns(entry) == [*entry.turns]
    assert everyone.first_turn(entry) == visible(entry.turns[0])
    assert everyone.expected(entry).startswith(("{", "[", '"'))
    assert everyone.expected(entry.model_copy(update={"expected": None})) == ""


def test_one_customer_has_no_page_of_people_and_none_of_others() -> None:
    paths = {item.path for item in pages(content(), ONE)}
    assert "people.html" not in paths
    assert {path for path in paths if path.startswith("customers/")} == {customer_path(CUSTOMERS[1])}
    assert page("results.html", ONE).values["histories"]
    assert all(reader(ONE).sees_entry(item.entry) for item in page("results.html", ONE).values["histories"])


def test_a_customer_sees_that_an_entry_is_quarantined_and_not_what_people_wrote() -> None:
    known = content()
    own = next(item for item in known.entries.values() if item.customer == ONE.customer and item.state == "in-set")
    reason = "flaps <b>, asks kim"
    roles = own.shown.roles.model_copy(update={"quarantined": reason})
    shown = own.shown.model_copy(update={"entry": own.entry.model_copy(update={"quarantined": reason}), "roles": roles})
    hidden = replace(known, entries={**known.entries, own.id: replace(own, shown=shown)})
    for audience, words in ((ALL, "flaps &lt;b&gt;, asks kim"), (ONE, "by a person")):
        files = dict(render_site(hidden, audience, drawing()))
        text = files[f"entries/{own.id}.html"].decode()
        assert f"<dt>Quarantined</dt><dd>{words}</dd>" in text
        assert '<span class="tag">quarantined</span>' in text
        assert ("asks kim" in text) == (audience is ALL)
    assert "Quarantined" not in files_for(ALL)[f"entries/{own.id}.html"].decode()


def test_results_begin_with_what_flaps() -> None:
    values = page("results.html").values
    assert values["histories"][0].entry == FLAPPING
    assert [name for name, _, _ in values["releases"]] == ["v1", "v2", "v3"]
    assert page("index.html").values["flapping"][0].id == FLAPPING


def test_a_quarantined_entry_needs_a_person_once_it_is_stable() -> None:
    known = content()
    item = known.entries[FLAPPING]
    assert item.history is not None
    for stable in (False, True):
        history = replace(item.history, quarantined=True, stable=stable)
        hidden = replace(known, entries={**known.entries, FLAPPING: replace(item, history=history)})
        values = page("index.html", known=hidden).values
        assert (values["flapping"], [each.id for each in values["stable"]]) == ([], [FLAPPING] if stable else [])
    overview = file_of(hidden, "index.html")
    assert '<a href="entries.html#role=quarantined">1 quarantined entry is</a> stable in release runs' in overview


def test_a_set_without_results_pairs_or_source_has_the_other_pages(tmp_path: Path) -> None:
    known = content()
    options = Options.model_validate({**known.platform.config.options.model_dump(), "novelty": "signature"})
    config = known.platform.config.model_copy(update={"options": options})
    bare = replace(
        known,
        platform=replace(known.platform, config=config),
        results=None,
        pairs=None,
        agreement=None,
        calibration=None,
        commit=None,
        at=None,
        agents={},
        status=known.status.model_copy(update={"growth": None, "pairs": None, "missing_pairs": None}),
    )
    assert bare.points == ()
    files = dict(render_site(bare, ALL, drawing()))
    assert "pairs.html" not in files
    assert "results.html" not in files
    assert b"no specification is known" in files["index.html"]
    assert b"At commit" not in files["index.html"]
    assert b"No one has answered" in files["people.html"]


def test_the_waitlist_says_what_it_would_cover() -> None:
    (waiting,) = [item.id for item in content().entries.values() if item.state == "waiting"]
    found = page("index.html").values["waiting_for"]
    assert set(found) == set(content().entries[waiting].entry.scores)
    name = next(iter(found))
    assert [item.id for item in page(f"capabilities/{name}.html").values["waiting"]] == [waiting]


def test_growth_has_a_chart_for_each_thing_that_grows() -> None:
    status = content().status
    assert status.growth is not None
    titles = [*growth_charts(status)]
    assert [title.split(",")[0] for title in titles] == [
        "Entries",
        "Capabilities at their floor",
        "Possible pairs carried",
        "Total cost of the entries",
    ]
    one = replace(status.growth, points=status.growth.points[:1])
    assert growth_charts(status.model_copy(update={"growth": one})) == {}
    alike = tuple(replace(point, cost=float(point.entries)) for point in status.growth.points)
    plain = replace(status.growth, points=alike, possible=None)
    assert len(growth_charts(status.model_copy(update={"growth": plain}))) == 2


def test_charts_of_nothing_are_none() -> None:
    assert agreement_chart([]) is None
    assert releases_chart([]) is None
    silent = Month(month="2026-01", explicit=Share(0, 0), implicit=Share(3, 3))
    assert agreement_chart([silent]) is None
    drawn = drawing()(agreement_chart([silent, replace(silent, month="2026-02", explicit=Share(4, 3))]) or {})
    assert "Feb 26" in drawn
    assert "style=" not in drawn


def values_of(items: Iterable[tuple[Estimate, object]]) -> list[str]:
    return [item.capability for item, _ in items]


def test_what_people_answered_is_shown_beside_the_knobs(curated: Path) -> None:
    known = read_site(open_platform(curated, "config/curation.yaml"), curated, "Curated", "config/curation.yaml")
    values = page("people.html", known=known).values
    assert values_of(values["estimates"]) == ["backend.call"]
    text = file_of(known, "people.html")
    assert "0.5 → 0.7" in text
    assert "40 explicit answers, 0 by a merge" in text
    (estimate, _), *_ = values["estimates"]
    chart = drawing()(evidence_chart(replace(estimate, likeliest=None, outcome=KnobOutcome.THIN)))
    assert "not enough" in chart

"""How people name capabilities: by the id, its end, or the name, as long as one is meant."""

from __future__ import annotations

import pytest

from incumbent.taxonomy.model import Capability, ShortNames, UnknownCapabilityError, is_end
from tests.classifier.factories import intent, taxonomy


def named(id: str, name: str) -> Capability:
    return intent(id).model_copy(update={"name": name})


NAMES = ShortNames(
    taxonomy(
        named("request.auth.oauth", "OAuth 2"),
        named("request.auth.none", "No sign-in"),
        named("response.none", "Nothing"),
        named("request.attachments.audio", "Audio attached"),
        named("links", "Web links"),
        named("response.links", "Links"),
    )
)


@pytest.mark.parametrize(
    ("text", "id"),
    [
        ("request.auth.oauth", "request.auth.oauth"),
        ("OAuth", "request.auth.oauth"),
        ("auth.none", "request.auth.none"),
        ("nothing", "response.none"),
        ("audio  Attached", "request.attachments.audio"),
        ("audio-attached", "request.attachments.audio"),
        ("links", "links"),
        ("web links", "links"),
    ],
)
def test_one_is_meant(text: str, id: str) -> None:
    assert NAMES.find(text) == id


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("none", "'none' may mean request.auth.none or response.none: write the whole id"),
        ("audio atached", "the taxonomy has no capability 'audio atached'; perhaps you meant 'audio-attached'"),
        ("request.auth.oath", "the taxonomy has no capability 'request.auth.oath'; perhaps you meant "),
        ("", "the taxonomy has no capability ''"),
        ("x" * 999, f"the taxonomy has no capability '{'x' * 63}…'"),
    ],
)
def test_none_or_several_are(text: str, words: str) -> None:
    with pytest.raises(UnknownCapabilityError) as error:
        NAMES.find(text)
    assert str(error.value).startswith(words)
    with pytest.raises(UnknownCapabilityError) as brief:
        NAMES.find(text, helpful=False)
    assert "perhaps" not in str(brief.value)


def test_an_end_is_made_of_whole_parts() -> None:
    assert is_end("Auth.OAuth", "request.auth.oauth")
    assert is_end("request.auth.oauth", "request.auth.oauth")
    assert not is_end("auth", "request.auth.oauth")
    assert not is_end("h.oauth", "request.auth.oauth")

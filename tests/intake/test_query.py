from __future__ import annotations

import pytest

from bot.intake.query import Query, Setup


@pytest.mark.parametrize(
    ("attachments", "classified_turns"),
    [
        ((), ("Hello", "What is this?")),
        (("images/boat.PNG",), ("Hello", "What is this?\n(attached image: images/boat.PNG)")),
        (("image/png (9 characters)",), ("Hello", "What is this?\n(attached image: image/png (9 characters))")),
        (("call.MP3",), ("Hello", "What is this?\n(attached audio: call.MP3)")),
        (("plan.pdf", "a.jpg"), ("Hello", "What is this?\n(attached file: plan.pdf)\n(attached image: a.jpg)")),
    ],
)
def test_a_classifier_hears_of_what_is_attached(
    attachments: tuple[str, ...], classified_turns: tuple[str, ...]
) -> None:
    turns = ("Hello", "What is this?")
    query = Query(id="q", turns=turns, setup=Setup(attachments=attachments), file="f", line=1)
    assert query.classified_turns == classified_turns
    assert query.turns == turns


AUDIO = ("mp3", "wav", "m4a", "ogg", "flac", "aac", "opus", "wma", "amr")


@pytest.mark.parametrize(
    ("attachments", "kinds"),
    [
        ((), None),
        (("boat.png",), ("image",)),
        (("boat.JPEG", "chart.svg"), ("image",)),
        (("image/png (9 characters)",), ("image",)),
        (("image/svg+xml",), ("image",)),
        (("input_image",), ("image",)),
        (("https://harbour.example/boat.webp?size=2#top",), ("image",)),
        (("image of a boat.pdf", "image.pdf"), ("file",)),
        *(
            ((f"call.{ending}",), ("audio",))
            for ending in ["mp3", "wav", "m4a", "ogg", "flac", "aac", "opus", "wma", "amr"]
        ),
        (("audio/x-wav",), ("audio",)),
        (("audio",), ("audio",)),
        (("input_audio (12,000 characters, SHA-256 0123456789ab)",), ("audio",)),
        (("audiobook.docx", "clip.mp4", "mp3", "file-91"), ("file",)),
        (("z.pdf", "call.mp3", "b.png", "a.png"), ("audio", "file", "image")),
        (("boat.png\nnotes",), ("file",)),
    ],
)
def test_the_kinds_of_what_is_attached(attachments: tuple[str, ...], kinds: tuple[str, ...] | None) -> None:
    query = Query(id="q", turns=("Hello",), setup=Setup(attachments=attachments), file="f", line=1)
    assert query.attachment_kinds == kinds

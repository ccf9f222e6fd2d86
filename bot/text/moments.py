"""Moments as text: ISO 8601."""

from __future__ import annotations

from datetime import UTC, datetime


def utc(text: str) -> str:
    """The moment ``text`` (ISO 8601; UTC where it names no zone) in UTC to the second; raises :class:`ValueError`."""
    try:
        moment = _parsed(text).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("an ISO 8601 time such as 2026-11-21T10:00:00Z") from None
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")


def seconds(text: str) -> float:
    """Seconds from the start of 1970 to the moment ``text``, as in :func:`utc`; raises :class:`ValueError`."""
    return _parsed(text).timestamp()


def _parsed(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)

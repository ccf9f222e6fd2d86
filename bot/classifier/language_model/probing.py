"""Probes the abilities of an endpoint, with requests that are not queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bot.classifier.language_model.answers import ModelAnswer
from bot.classifier.language_model.budget import Meter
from bot.classifier.language_model.endpoint import Endpoint, QueryFailedError, QueryRefusedError, UnsupportedError
from bot.classifier.language_model.endpoint_features import Abilities, find_out, probe, shows
from bot.errors import OutsideError


def still_answers(endpoint: Endpoint, abilities: Abilities, samples: int) -> bool:
    """Whether ``endpoint`` answers a probe, with these ``abilities``."""
    try:
        return shows(endpoint.complete(probe(abilities, samples), retry=False), abilities, samples)
    except (QueryFailedError, QueryRefusedError):
        return False


def probed(endpoint: Endpoint, meter: Meter, samples: int) -> Abilities:
    """The abilities of ``endpoint``; raises :class:`OutsideError` if it cannot be reached."""

    def ask(asked: dict[str, Any], final: bool) -> Sequence[ModelAnswer] | None:
        try:
            try:
                return endpoint.complete(asked, retry=False)
            except UnsupportedError as error:
                return ask(asked, False) if final and error.passing else None
            except (QueryFailedError, OutsideError):
                return endpoint.complete(asked)  # an unreachable server may come back
        except (UnsupportedError, QueryRefusedError):
            return None
        except QueryFailedError as error:
            raise error.outside from None

    def demand(asked: dict[str, Any]) -> Sequence[ModelAnswer]:
        try:
            return endpoint.complete(asked)
        except QueryFailedError as error:
            raise error.outside from None
        except QueryRefusedError:
            return ()

    meter.probe(True)
    try:
        return find_out(ask, demand, samples)
    finally:
        meter.probe(False)

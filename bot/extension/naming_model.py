"""Names candidates by a language model; if that fails, the names made from their traits stay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.classifier.language_model.budget import Meter
from bot.classifier.language_model.endpoint import Endpoint, QueryFailedError, QueryRefusedError
from bot.classifier.language_model.endpoint_features import LEAST, Abilities, Draw, parameters
from bot.classifier.language_model.features_cache import RememberedAbilities
from bot.classifier.usage import Usage
from bot.config import ClassifierSettings, OpenAISettings
from bot.errors import IncompleteError, OutsideError
from bot.extension.model import ExtensionCandidate
from bot.extension.naming import SCHEMA, messages, read_naming, renamed
from bot.files.user_cache import user_cache_folder
from bot.taxonomy.model import Taxonomy
from bot.text.personal_data.detector import Detector


def named(
    candidates: Sequence[ExtensionCandidate],
    taxonomy: Taxonomy,
    settings: ClassifierSettings,
    environment: Mapping[str, str],
    *,
    names: bool,
) -> tuple[tuple[ExtensionCandidate, ...], Usage | None]:
    """``candidates`` with the names of a language model, if the ``settings`` use one, and the cost.

    ``environment`` contains the key; ``names``: whether people's names are masked in the request.
    """
    if not candidates or settings.backend != "openai" or settings.openai is None:
        return tuple(candidates), None
    meter = Meter(settings.openai.budget, settings.openai.prices)
    memory = RememberedAbilities(user_cache_folder(environment))
    abilities = memory.load(settings.openai, settings.samples) or LEAST
    found = named_by_model(candidates, taxonomy, settings.openai, environment, meter, abilities, names=names)
    return found, meter.usage


def named_by_model(
    candidates: Sequence[ExtensionCandidate],
    taxonomy: Taxonomy,
    settings: OpenAISettings,
    environment: Mapping[str, str],
    meter: Meter,
    abilities: Abilities = LEAST,
    *,
    names: bool = False,
) -> tuple[ExtensionCandidate, ...]:
    """``candidates`` with a model's names if its answers are valid; one request each, within the budget of ``meter``.

    Names are optional: if an endpoint fails, or a budget is used up, the rest stay unnamed.  Raises
    :class:`bot.errors.UsageError` if there is no usable key or endpoint.
    """
    found = list(candidates)
    # No value is allowed there, as in the prompt of the classifier.
    detector = Detector(names=names)
    if not found:
        return ()
    with Endpoint(settings, environment, meter) as endpoint:
        for place, candidate in enumerate(found):
            draw = Draw(
                messages=messages(candidate, taxonomy, detector),
                schema=SCHEMA,
                samples=1,
                seed=settings.seed,
                tokens=settings.answer_tokens,
            )
            try:
                answers = endpoint.complete(parameters(draw, abilities))
            except QueryRefusedError:
                continue
            except (QueryFailedError, OutsideError, IncompleteError):
                break
            naming = read_naming(answers[0])
            if naming is not None:
                taken = frozenset(item.id for item in found[:place] + found[place + 1 :])
                found[place] = renamed(candidate, naming, taxonomy, taken)
    return tuple(found)

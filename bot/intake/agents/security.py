"""What security requirements of OpenAPI files and agent cards ask for: any one alternative, all schemes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from bot.intake.agents.authentication import Alternatives, Scheme, required_mode
from bot.intake.agents.package import Package
from bot.intake.place import Place
from bot.intake.specification import AuthDeclaration, AuthMode

_DEFINE: Final = "define it under components.securitySchemes (securityDefinitions in OpenAPI 2.0)"


def _whole(requirement: Place) -> Place:
    """A requirement of OpenAPI is itself the mapping from schemes to scopes."""
    return requirement


class Security:
    """The schemes of one file, and which of them its requirements name; an unknown name is remarked once."""

    def __init__(
        self,
        package: Package,
        schemes: Mapping[str, Scheme],
        named_in: Callable[[Place], Place] = _whole,
        define: str = _DEFINE,
    ) -> None:
        self.schemes = schemes
        self._package = package
        self._named_in = named_in
        self._define = define
        self._undefined: set[str] = set()

    def alternatives(self, security: Place) -> Alternatives | None:
        """What a list of requirements asks for; an empty list asks for nothing, ``None`` says nothing."""
        if not security.is_list:
            return None
        found: list[tuple[Scheme, ...]] = [] if security.items else [()]
        for requirement in security.items:
            if not requirement.is_mapping:
                continue
            names = [name for name, _ in self._named_in(requirement).entries]
            known = tuple(self.schemes[name] for name in names if name in self.schemes)
            if known or not names:
                found.append(known)
            for name in names:
                if name not in self.schemes and name not in self._undefined:
                    self._undefined.add(name)
                    self._package.note(
                        requirement,
                        f"{requirement.name}: the security scheme {name!r} is not defined; it is not read",
                        self._define,
                    )
        return tuple(found) or None


def required_modes(required: Iterable[tuple[Alternatives, Place]]) -> dict[AuthMode, AuthDeclaration]:
    """The modes that requirements come to, each declared by its scheme, or where the place says if there is none."""
    found: dict[AuthMode, AuthDeclaration] = {}
    for alternatives, otherwise in required:
        mode = required_mode(alternatives)
        place = next((scheme.place for scheme in alternatives[0] if scheme.mode == mode), otherwise)
        found.setdefault(mode, AuthDeclaration(mode=mode, declared_in=str(place)))
    return found

"""Authentication of tool calls, from plugin manifests, OpenAPI files and agent cards."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from incumbent.files.documents import Node
from incumbent.intake.agents.package import AgentPackage
from incumbent.intake.specification import AuthDeclaration, AuthMode
from incumbent.text.did_you_mean import did_you_mean

_DEFINE: Final = "define it under components.securitySchemes (securityDefinitions in OpenAPI 2.0)"


def _whole(requirement: Node) -> Node:
    """The mapping from schemes to scopes: in OpenAPI the requirement itself."""
    return requirement


class Security:
    """The security schemes of one file and their use in requirements; an unknown name gets one note."""

    def __init__(
        self,
        package: AgentPackage,
        schemes: Mapping[str, SecurityScheme],
        named_in: Callable[[Node], Node] = _whole,
        define: str = _DEFINE,
    ) -> None:
        self.schemes = schemes
        self._package = package
        self._named_in = named_in
        self._define = define
        self._undefined: set[str] = set()

    def alternatives(self, security: Node) -> Alternatives | None:
        """The alternatives in a list of requirements; an empty list requires nothing, ``None`` means not declared."""
        if not security.is_list:
            return None
        found: list[tuple[SecurityScheme, ...]] = [] if security.items else [()]
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


def required_modes(required: Iterable[tuple[Alternatives, Node]]) -> dict[AuthMode, AuthDeclaration]:
    """The modes of requirements, each declared by its scheme, or at the given place if it has none."""
    found: dict[AuthMode, AuthDeclaration] = {}
    for alternatives, otherwise in required:
        mode = required_mode(alternatives)
        place = next((scheme.place for scheme in alternatives[0] if scheme.mode == mode), otherwise)
        found.setdefault(mode, AuthDeclaration(mode=mode, declared_in=str(place)))
    return found


_PUBLISHED_TYPES: Final[dict[str, AuthMode]] = {
    "None": "none",
    "OAuthPluginVault": "oauth",
    "ApiKeyPluginVault": "api-key",
}
# Types that work although no published schema has them.
_OTHER_TYPES: Final[dict[str, AuthMode]] = {"EntraOnBehalfOf": "sso", "DynamicClientRegistration": "oauth"}
_TYPES: Final = {name.casefold(): mode for name, mode in (_PUBLISHED_TYPES | _OTHER_TYPES).items()}
_TOKENS: Final[frozenset[AuthMode]] = frozenset({"oauth", "sso"})
_STRENGTH: Final[tuple[AuthMode, ...]] = ("sso", "oauth", "api-key", "other", "none")
_SINGLE_SIGN_ON: Final = re.compile(r"single[\s_-]?sign[\s_-]?on", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SecurityScheme:
    """A security scheme of an OpenAPI file; a ``bearer`` token may be an API key or an OAuth token."""

    name: str
    mode: AuthMode
    bearer: bool
    place: Node


Alternatives = tuple[tuple[SecurityScheme, ...], ...]
"""The requirements of an operation: all schemes of any one alternative; an empty alternative requires nothing."""


@dataclass(frozen=True, slots=True)
class RuntimeAuth:
    """The auth of one runtime: its ``mode`` (``None``: not declared) and the place of the declaration."""

    mode: AuthMode | None
    place: Node


def scheme_mode(scheme: Node) -> tuple[AuthMode, bool]:
    """The auth mode of an OpenAPI security scheme (2.0 or 3.x), and whether it is a plain bearer token."""
    match scheme["type"].text.casefold():
        case "oauth2" | "openidconnect":
            is_sso = mentions_single_sign_on(f"{scheme.path[-1]} {scheme['description'].text}")
            return ("sso" if is_sso else "oauth"), False
        case "apikey":
            return "api-key", False
        case "none":
            return "none", False
        case "http" if scheme["scheme"].text.casefold() == "bearer":
            return "api-key", True
        case _:
            return "other", False


def mentions_single_sign_on(text: str) -> bool:
    """Whether a name or description contains the word SSO or the phrase “single sign-on”."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", text)
    return any(word.casefold() == "sso" for word in words) or _SINGLE_SIGN_ON.search(text) is not None


def required_mode(alternatives: Alternatives) -> AuthMode:
    """The mode of the first alternative; of its schemes, the one that identifies the user best."""
    modes = {scheme.mode for scheme in alternatives[0]} if alternatives else set()
    return next((mode for mode in _STRENGTH if mode in modes), "none")


def read_runtime_auth(package: AgentPackage, runtime: Node) -> RuntimeAuth:
    """The auth of a plugin's runtime; an unknown type is ``other``, with a note."""
    auth = runtime["auth"]
    kind = auth if auth.text else auth["type"] if auth["type"].text else auth["Type"]
    if not kind.text:
        return RuntimeAuth(None, auth)
    name = kind.text
    mode = _TYPES.get(name.casefold())
    if name not in _PUBLISHED_TYPES:
        read_as = "other" if mode is None else mode
        package.note(
            kind,
            f"{kind.name}: {name!r} is not in the published schema and is read as {read_as!r}"
            f"{did_you_mean(name, _PUBLISHED_TYPES) if mode is None else ''}",
            f"use one of: {', '.join(_PUBLISHED_TYPES)}",
        )
    if mode == "oauth" and mentions_single_sign_on(auth["reference_id"].text):
        mode = "sso"
    return RuntimeAuth(mode or "other", auth)


def settle(
    package: AgentPackage,
    declared: RuntimeAuth,
    required: Sequence[tuple[str, Alternatives]],
    defined: Sequence[SecurityScheme],
) -> AuthMode | None:
    """The mode of a runtime, from its declaration and its OpenAPI file; ``None`` if the plugin declares none.

    ``required`` are the declared requirements of the runtime's operations, by name; ``defined`` are the file's schemes
    if no operation requires any.  An OAuth vault with a scheme for single sign-on is SSO.
    """
    if declared.mode is None:
        return None
    schemes = [scheme for _, alternatives in required for schemes in alternatives for scheme in schemes]
    if declared.mode == "oauth" and any(scheme.mode == "sso" for scheme in schemes):
        return "sso"
    against = [(name, alternatives) for name, alternatives in required if not _agrees(declared.mode, alternatives)]
    if against:
        name, alternatives = against[0]
        scheme = alternatives[0][0]
        more = f" and {len(against) - 1} more" if len(against) > 1 else ""
        package.note(
            declared.place,
            f"{declared.place.name}: the plugin says {declared.mode!r}, but {scheme.place} "
            f"(line {scheme.place.line}) requires {scheme.mode!r} for {name}{more}; the plugin holds",
            "make the two agree",
        )
    elif declared.mode == "none" and defined:
        scheme = defined[0]
        package.note(
            declared.place,
            f"{declared.place.name}: the plugin says 'none', but {scheme.place} "
            f"(line {scheme.place.line}) defines {scheme.mode!r}, which no operation requires; the plugin holds",
            "make the two agree",
        )
    return declared.mode


def _agrees(mode: AuthMode, alternatives: Alternatives) -> bool:
    if mode == "other":
        return True
    return any(
        not schemes
        or any(
            scheme.mode == mode or (scheme.mode in _TOKENS and mode in _TOKENS) or (scheme.bearer and mode != "none")
            for scheme in schemes
        )
        for schemes in alternatives
    )

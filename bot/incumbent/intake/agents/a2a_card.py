"""A2A agent cards (protocol versions 0.1 to 1.0), in which an agent describes itself to other agents.

A card has skills, not tools: tools and knowledge stay undeclared.  Version 1.0 wraps each security scheme in a key that
names its type, and its requirements in ``schemes``
(https://a2a-protocol.org, ``AgentCard``).
"""

from __future__ import annotations

import re
from typing import Final

from incumbent.files.documents import Data, Document, Node, Parsed
from incumbent.intake.agents.authentication import Security, SecurityScheme, required_modes, scheme_mode
from incumbent.intake.agents.package import AgentPackage
from incumbent.intake.agents.reader import BareReader
from incumbent.intake.specification import AuthDeclaration, Specification

_USUAL_KEYS: Final = (
    *("protocolVersion", "supportedInterfaces", "capabilities", "url", "preferredTransport"),
    *("defaultInputModes", "defaultOutputModes"),
)
# In version 1.0 the key around a scheme names its type.
_WRAPPED: Final = {
    "apiKeySecurityScheme": "apiKey",
    "httpAuthSecurityScheme": "http",
    "oauth2SecurityScheme": "oauth2",
    "openIdConnectSecurityScheme": "openIdConnect",
    "mtlsSecurityScheme": "mutualTLS",
}
# Names in early cards for schemes that later ones describe.
_EARLY: Final[dict[str, dict[str, Data]]] = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "oauth": {"type": "oauth2"},
    "oidc": {"type": "openIdConnect"},
    "public": {"type": "none"},
}


def _fits(document: Document) -> bool:
    """A card has a name and at least two of the usual keys; without skills at least four."""
    root = Parsed("", document).root
    known = sum(not _value(root, key).absent for key in _USUAL_KEYS)
    return bool(root["name"].text) and known >= (2 if root["skills"].is_list else 4)


def _value(place: Node, key: str) -> Node:
    """The value of ``key`` in JSON's spelling, or in that of the protocol definition (``security_schemes``)."""
    return place[key] if place.has(key) else place[re.sub(r"[A-Z]", lambda match: f"_{match.group().lower()}", key)]


def _describe(package: AgentPackage, source: Parsed) -> Specification:
    root = source.root
    skills = [skill for skill in root["skills"].items if skill.is_mapping]
    described = [_described(skill) for skill in skills]
    starters = (example.text for skill in skills for example in skill["examples"].items)
    return Specification(
        platform="",
        name=root["name"].text,
        description="\n".join(text for text in (root["description"].text, *described) if text),
        instructions="",
        auth=_auth(package, root, skills),
        tools=None,
        knowledge=None,
        starters=tuple(dict.fromkeys(text for text in starters if text)),
        notes=tuple(dict.fromkeys(package.notes)),
    )


def _described(skill: Node) -> str:
    name = skill["name"].text or skill["id"].text
    description = skill["description"].text
    return f"{name}: {description}" if name and description else name or description


def _auth(package: AgentPackage, root: Node, skills: list[Node]) -> tuple[AuthDeclaration, ...] | None:
    """The auth that the card and its skills require; schemes that nothing requires get a note and declare nothing."""
    schemes = {name: _scheme(name, place) for name, place in _value(root, "securitySchemes").entries}
    security = Security(package, schemes, _named, "define it under securitySchemes")
    required = []
    for place in (root, *skills):
        for requirement in (place["security"], _value(place, "securityRequirements")):
            # In version 1.0 an empty list equals a missing one, since its encoding cannot distinguish them.
            if requirement.items or requirement.path[-1] == "security":
                alternatives = security.alternatives(requirement)
                if alternatives is not None:
                    required.append((alternatives, requirement))
    if not required and not schemes:
        return _early_declarations(root) or None
    if not required:
        for scheme in list(schemes.values())[:1]:
            package.note(
                scheme.place,
                f"{scheme.place.name}: defines {scheme.mode!r}, which the card does not require; "
                "the auth mode is not declared",
                "require it under `security`",
            )
    return tuple(required_modes(required).values()) or None


def _early_declarations(root: Node) -> tuple[AuthDeclaration, ...]:
    """The auth in ``authentication`` of early cards: the first of the alternative schemes."""
    for named in root["authentication"]["schemes"].items[:1]:
        word = re.sub(r"[\W_]", "", named.text.casefold())
        mode, _ = scheme_mode(Node(named.source, named.path, _EARLY.get(word, {"type": word})))
        return (AuthDeclaration(mode=mode, declared_in=str(named)),)
    return ()


def _named(requirement: Node) -> Node:
    return requirement["schemes"] if requirement["schemes"].is_mapping else requirement


def _scheme(name: str, place: Node) -> SecurityScheme:
    inner = place
    for wrapper, kind in _WRAPPED.items():
        wrapped = _value(place, wrapper)
        if wrapped.is_mapping:
            inner = Node(place.source, place.path, {key: item.data for key, item in wrapped.entries} | {"type": kind})
    mode, bearer = scheme_mode(inner)
    return SecurityScheme(name, mode, bearer, place)


READER: Final = BareReader(
    name="a2a-card",
    looked_for="an A2A agent card",
    endings=(".json",),
    mark=re.compile(rb"\"(skills|default_?[iI]nput_?[mM]odes)\""),
    telling=re.compile(rb"\"(defaultInputModes|supportedInterfaces)\""),
    usual=re.compile(r"agent([-_]card)?\.json"),
    fits=_fits,
    describe=_describe,
)

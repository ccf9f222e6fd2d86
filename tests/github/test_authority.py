from __future__ import annotations

import pytest

from incumbent.github.authority import UNKNOWN_PERMISSION, Authority, Person, author_permission, may_write
from incumbent.github.commands import Verb

DECISIONS = (Verb.ACCEPT, Verb.REJECT, Verb.PIN, Verb.UNPIN)


class Permissions:
    """What GitHub would answer, and whom it was asked about."""

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.asked: list[str] = []

    def __call__(self, login: str) -> str:
        self.asked.append(login)
        return self.answer


def ask(
    verb: Verb,
    login: str | None,
    *,
    is_bot: bool = False,
    by: str | None = "customer",
    curators: tuple[str, ...] = (),
    permission: str = "none",
) -> tuple[str | None, list[str]]:
    permissions = Permissions(permission)
    authority = Authority(curators=curators, permission=permissions)
    said = authority.refusal(verb, Person(login=login, is_bot=is_bot), by)
    return said, permissions.asked


@pytest.mark.parametrize("verb", Verb)
@pytest.mark.parametrize(
    ("login", "is_bot", "why"),
    [
        ("helper", True, "Bots"),
        ("helper[bot]", False, "Bots"),
        ("Helper[BOT]", False, "Bots"),
        (None, False, "not exist"),
        (None, True, "not exist"),
        ("", False, "not exist"),
        ("ghost", False, "not exist"),
        ("Ghost", False, "not exist"),
    ],
)
def test_bots_and_deleted_accounts_may_nothing_even_as_curators(
    verb: Verb, login: str | None, is_bot: bool, why: str
) -> None:
    curators = ("helper", "helper[bot]", "ghost", "")
    said, asked = ask(verb, login, is_bot=is_bot, curators=curators, permission="admin")
    assert said is not None
    assert why in said
    assert asked == []


@pytest.mark.parametrize("login", ["stranger", "customer", "Alice"])
@pytest.mark.parametrize("curators", [(), ("alice",)])
def test_everybody_may_ask_for_help(login: str, curators: tuple[str, ...]) -> None:
    assert ask(Verb.HELP, login, curators=curators) == (None, [])


@pytest.mark.parametrize("verb", DECISIONS)
@pytest.mark.parametrize("login", ["customer", "Customer"])
@pytest.mark.parametrize("curators", [(), ("customer",), ("alice",)])
def test_nobody_decides_on_their_own_pull_request(verb: Verb, login: str, curators: tuple[str, ...]) -> None:
    said, asked = ask(verb, login, curators=curators, permission="admin")
    assert said is not None
    assert "own queries" in said
    assert asked == []


@pytest.mark.parametrize(
    ("curators", "permission", "may"),
    [
        (("customer",), "none", True),
        (("alice",), "admin", False),
        ((), "write", True),
        ((), "read", False),
    ],
)
def test_the_author_may_let_it_run_if_a_curator(curators: tuple[str, ...], permission: str, may: bool) -> None:
    assert (ask(Verb.RUN, "customer", curators=curators, permission=permission)[0] is None) is may


@pytest.mark.parametrize("verb", [*DECISIONS, Verb.RUN])
@pytest.mark.parametrize(
    ("login", "curators", "may"),
    [
        ("alice", ("alice",), True),
        ("ALICE", ("bob", "Alice"), True),
        ("alice", ("bob",), False),
        ("alice", ("alicea",), False),
    ],
)
def test_configured_curators_count_and_nobody_is_looked_up(
    verb: Verb, login: str, curators: tuple[str, ...], may: bool
) -> None:
    said, asked = ask(verb, login, curators=curators, permission="admin")
    assert (said is None) is may
    assert said is None or "not among the curators" in said
    assert asked == []


@pytest.mark.parametrize("verb", [*DECISIONS, Verb.RUN])
@pytest.mark.parametrize(
    ("permission", "may"),
    [
        ("admin", True),
        ("maintain", True),
        ("write", True),
        ("Write", True),
        ("triage", False),
        ("read", False),
        ("none", False),
        ("", False),
    ],
)
def test_without_configured_curators_who_may_write_is_one_and_is_looked_up_once(
    verb: Verb, permission: str, may: bool
) -> None:
    said, asked = ask(verb, "Alice", permission=permission)
    assert (said is None) is may
    assert said is None or "may not" in said
    assert asked == ["Alice"]


def test_who_may_not_be_looked_up_is_told_what_to_do() -> None:
    said, _ = ask(Verb.ACCEPT, "alice", permission=UNKNOWN_PERMISSION)
    assert said is not None
    assert "name the curators in config/curation.yaml" in said


def test_a_pull_request_of_a_deleted_account_is_nobodys_own() -> None:
    assert ask(Verb.ACCEPT, "alice", by=None, curators=("alice",)) == (None, [])


@pytest.mark.parametrize("verb", Verb)
@pytest.mark.parametrize("curators", [(), ("alice",)])
@pytest.mark.parametrize("login", [None, "x[bot]", "customer", "stranger"])
def test_a_refusal_is_one_sentence(verb: Verb, curators: tuple[str, ...], login: str | None) -> None:
    said, _ = ask(verb, login, curators=curators)
    if said is not None:
        assert said.endswith(".")
        assert "\n" not in said
        assert ". " not in said


ASSOCIATIONS = (
    *("OWNER", "MEMBER", "COLLABORATOR", "CONTRIBUTOR", "FIRST_TIME_CONTRIBUTOR", "FIRST_TIMER", "NONE", "MANNEQUIN"),
    "",
)
PERMISSIONS = {"admin": True, "maintain": True, "write": True, "triage": False, "read": False, "none": False}


@pytest.mark.parametrize("association", ASSOCIATIONS)
@pytest.mark.parametrize(
    ("permission", "trusted"), [*PERMISSIONS.items(), (UNKNOWN_PERMISSION, False), ("Write", True)]
)
def test_an_author_is_who_they_may_be_whatever_github_states_of_them(
    association: str, permission: str, trusted: bool
) -> None:
    permissions = Permissions(permission)
    found = author_permission("Mara", association, permissions)
    # The owner of a repository may do everything with it: nobody has to be asked.
    owner = association == "OWNER"
    assert may_write(found) is (trusted or owner)
    assert permissions.asked == ([] if owner else ["Mara"])


@pytest.mark.parametrize("login", ["", "ghost", "helper[bot]"])
@pytest.mark.parametrize("association", ASSOCIATIONS)
def test_bots_and_deleted_accounts_are_nobody_even_as_owners(login: str, association: str) -> None:
    permissions = Permissions("admin")
    assert not may_write(author_permission(login, association, permissions))
    assert permissions.asked == []


@pytest.mark.parametrize("verb", Verb)
@pytest.mark.parametrize("curators", [(), ("Wanda",)])
@pytest.mark.parametrize(
    ("made", "words"),
    [(frozenset({"wanda", "mara"}), "You made a commit"), (None, "its authors are unknown"), (frozenset(), None)],
)
def test_who_made_a_commit_decides_nothing_about_it(
    verb: Verb, curators: tuple[str, ...], made: frozenset[str] | None, words: str | None
) -> None:
    authority = Authority(curators=curators, permission=Permissions("write"))
    said = authority.refusal(verb, Person(login="Wanda", is_bot=False), "mara", lambda: made)
    if words is None or verb in (Verb.RUN, Verb.HELP):
        assert said is None
    else:
        assert said is not None
        assert words in said


@pytest.mark.parametrize(
    ("verb", "login"), [(Verb.ACCEPT, "stranger"), (Verb.ACCEPT, "mara"), (Verb.RUN, "wanda"), (Verb.HELP, "stranger")]
)
def test_commits_are_looked_up_only_about_people_who_may_decide_otherwise(verb: Verb, login: str) -> None:
    def unasked() -> None:
        raise AssertionError("the commits were looked up")

    Authority(curators=("wanda",), permission=Permissions("none")).refusal(
        verb, Person(login=login, is_bot=False), "mara", unasked
    )

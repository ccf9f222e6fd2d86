"""Operations as ordinary interfaces have them, kind by kind: what is a fact, and what is a contradiction."""

from __future__ import annotations

import time

import pytest

from incumbent.intake.agents.effects import effect_of_operation

# A POST whose name or route ends with a noun does not certainly read.
NOUNS_OF_READING = [
    ("post", "/checks/background-check", "orderBackgroundCheck", "unknown"),
    ("post", "/messages/{id}/read", "messageRead", "unknown"),
    ("post", "/items/{id}/view", "recordView", "unknown"),
    ("post", "/shopping-list", "shoppingList", "unknown"),
    ("post", "/mailing-list", "", "unknown"),
    ("post", "/saved-search", "", "unknown"),
    ("post", "/price-check", "priceCheck", "unknown"),
    ("post", "/health-check", "", "unknown"),
    ("post", "/watch-list", "watchlist", "unknown"),
    ("post", "/wish-list", "wishList", "unknown"),
    ("post", "/songs/{id}/show", "", "unknown"),
    ("post", "/notifications/{id}/read", "notificationRead", "unknown"),
    ("post", "/pages/{id}/view", "pageView", "unknown"),
    ("post", "/credit-check", "runCreditCheck", "unknown"),
    ("post", "/search-alerts", "", "unknown"),
    ("post", "/head-count", "", "unknown"),
    ("post", "/contact-query", "", "unknown"),
    ("post", "/search", "recordSearch", "unknown"),
    ("post", "/playlists", "playList", "unknown"),
    ("post", "/search", "", "read"),
    ("post", "/query", "runQuery", "read"),
    ("post", "/orders/list", "", "read"),
    ("post", "/getOrders", "", "read"),
    ("post", "/orders/search", "ordersSearch", "read"),
    ("post", "/orders", "orders_list", "unknown"),
    ("post", "/saved-search", "createSavedSearch", "write"),
    ("post", "/orders", "get_orders_list", "read"),
    ("post", "/search/jobs:lookUp", "", "read"),
    ("post", "/batchRead", "batchRead", "read"),
    ("post", "/a", "orders_list", "unknown"),
    ("post", "/{id}", "", "write"),
]

# A GET that is named like a change is no certain read.
CHANGES_IN_NAMES = [
    ("get", "/servers/{id}/destroy", "destroyServer", "unknown"),
    ("get", "/servers/{id}/wipe", "wipeServer", "unknown"),
    ("get", "/lights", "toggleLights", "unknown"),
    ("get", "/lights", "turnOnLights", "unknown"),
    ("get", "/a", "incrementCounter", "unknown"),
    ("get", "/a", "withdrawMoney", "unknown"),
    ("get", "/logout", "logoutUser", "unknown"),
    ("post", "/docs", "fetchAndStore", "write"),
    ("get", "/a", "runReports", "read"),
    ("get", "/a", "runQuery", "read"),
    ("get", "/a", "run", "read"),
    ("get", "/a", "store_type", "read"),
    ("get", "/a", "runJob", "read"),
    ("get", "/turnOn", "", "unknown"),
    ("get", "/a", "check_update", "unknown"),
    ("get", "/x", "a", "read"),
]

# Names that only look like changes.
NOTHING_CHANGED = [
    ("post", "/preview", "createPreview", "unknown"),
    ("post", "/x", "createX", "write"),
    ("post", "/x", "deleteX", "write"),
    ("post", "/x", "renameX", "write"),
    ("post", "/a", "createX", "write"),
    ("get", "/a", "a", "read"),
]

# Ordinary operations.
ORDINARY = [
    ("get", "/u", "updates", "read"),
    ("get", "/u", "invites", "read"),
    ("get", "/o", "o", "read"),
    ("get", "/o", "updateHistory", "read"),
    ("get", "/o", "savePoints", "read"),
    ("get", "/o", "SendGrid_getStats", "read"),
    ("get", "/o", "DeleteLog_listEntries", "read"),
    ("get", "/o", "publishDates", "read"),
    ("get", "/o", "writeThroughput", "read"),
    ("post", "/orders", "orders", "write"),
    ("post", "/orders", "createOrder", "write"),
    ("post", "/orders", "createListing", "write"),
    ("post", "/n", "notifyUser", "write"),
    ("post", "/a", "createListing", "write"),
]

# A GraphQL or RPC endpoint takes reads and changes alike; what only computes is no certain write.
MANY_CALLS = [
    ("post", "/graphql", "graphql", "unknown"),
    ("post", "/graphql", "", "unknown"),
    ("post", "/graphql", "graphqlQuery", "unknown"),
    ("post", "/graphql", "executeGraphQL", "unknown"),
    ("post", "/rpc", "", "unknown"),
    ("post", "/rpc", "jsonrpc", "unknown"),
    ("post", "/jsonrpc", "", "unknown"),
    ("post", "/xmlrpc.php", "", "unknown"),
    ("post", "/api/gql", "", "unknown"),
    ("post", "/rpc", "createOrder", "write"),
    ("post", "/filter", "filterTickets", "unknown"),
    ("post", "/t", "filterTickets", "unknown"),
    ("post", "/ask", "askQuestion", "unknown"),
    ("post", "/m", "matchCandidates", "unknown"),
    ("post", "/convert", "convert", "unknown"),
    ("post", "/g", "geocode", "unknown"),
    ("post", "/r", "rank", "unknown"),
    ("post", "/s", "score", "unknown"),
    ("post", "/e", "evaluate", "unknown"),
    ("post", "/v1/embed", "", "unknown"),
    ("post", "/t", "renderTemplate", "unknown"),
    ("post", "/tokens:decode", "", "unknown"),
    ("post", "/x", "sort_items", "unknown"),
    ("post", "/graphql", "listOrders", "read"),
    ("post", "/api", "executeGraphQL", "unknown"),
    ("post", "/a", "a", "write"),
    ("post", "/a", "convertLead", "unknown"),
    ("post", "/a:cancel", "convert", "unknown"),
    ("post", "/a", "runQuery", "unknown"),
]

# A change in the middle of a route or in its query counts; a text that is not English tells nothing.
ROUTES = [
    ("get", "/delete/user/{id}", "", "unknown"),
    ("get", "/users/delete/all", "", "unknown"),
    ("get", "/cart?action=delete", "", "unknown"),
    ("get", "/user/delete/{id}", "", "unknown"),
    ("get", "/x?cmd=remove_item", "", "unknown"),
    ("get", "/x?id={id}&do=create", "", "unknown"),
    ("get", "/users/{id}/activate/{code}", "", "unknown"),
    ("get", "/cart?action=list", "", "read"),
    ("get", "/updates/latest", "", "read"),
    ("get", "/restorePlans", "x.restorePlans.list", "read"),
    ("get", "/x", "x1", "read"),
    ("post", "/x", "x1", "write"),
    ("get", "/a?action=count", "", "read"),
]

# Instances of the same kinds in other words.
OTHER_INSTANCES = [
    ("post", "/drug-test/check", "drugCheck", "unknown"),
    ("post", "/emails/{id}/read", "emailRead", "unknown"),
    ("post", "/videos/{id}/view", "logView", "unknown"),
    ("post", "/grocery-list", "", "unknown"),
    ("post", "/spot-check", "requestSpotCheck", "unknown"),
    ("post", "/job-search", "jobSearch", "unknown"),
    ("post", "/body-count", "", "unknown"),
    ("post", "/flights/search", "flights", "read"),
    ("post", "/products:lookup", "", "read"),
    ("post", "/texts/analyze", "", "read"),
    ("post", "/v1/users/find", "", "read"),
    ("get", "/a", "discardDraft", "unknown"),
    ("get", "/a", "evictUser", "unknown"),
    ("get", "/a", "shutDownServer", "unknown"),
    ("get", "/a", "rollBackDeploy", "unknown"),
    ("post", "/a", "createUser", "write"),
    ("post", "/a", "deleteUser", "write"),
    ("get", "/a", "editOrderForm", "read"),
    ("get", "/a", "refundPolicy", "read"),
    ("get", "/a", "returnPolicy", "read"),
    ("get", "/a", "submitDate", "read"),
    ("get", "/a", "MailChimp_listAudiences", "read"),
    ("get", "/a", "StartUp_getFunding", "read"),
    ("post", "/tickets", "tickets", "write"),
    ("post", "/users", "users", "write"),
    ("post", "/a", "addReview", "write"),
    ("post", "/a", "createAd", "write"),
    ("post", "/a", "placeOrder", "write"),
    ("post", "/api/graphql/", "query", "unknown"),
    ("post", "/v1/rpc", "", "unknown"),
    ("post", "/json-rpc", "", "unknown"),
    ("post", "/rankings", "rankCandidates", "unknown"),
    ("post", "/render", "renderPage", "unknown"),
    ("post", "/a", "sortOrders", "unknown"),
    ("post", "/a", "forecastSales", "unknown"),
    ("post", "/a", "computeRoute", "unknown"),
    ("get", "/cancel/{id}/now", "", "unknown"),
    ("get", "/api/remove/item/{id}", "", "unknown"),
    ("get", "/admin.php?cmd=delete&id={id}", "", "unknown"),
    ("get", "/x?op=update", "", "unknown"),
    ("get", "/v1/send/sms", "", "unknown"),
    ("get", "/x?action=view", "", "read"),
    ("get", "/actions/latest", "", "read"),
    ("get", "/creates/{id}", "", "read"),
]


@pytest.mark.parametrize(
    ("method", "route", "operation_id", "effect"),
    [
        *NOUNS_OF_READING,
        *CHANGES_IN_NAMES,
        *NOTHING_CHANGED,
        *ORDINARY,
        *MANY_CALLS,
        *ROUTES,
        *OTHER_INSTANCES,
    ],
)
def test_an_operation_has_the_effect_that_is_sure_of_it(
    method: str, route: str, operation_id: str, effect: str
) -> None:
    decision = effect_of_operation(method, route, operation_id)
    assert decision.effect == effect, decision.reason
    assert (effect == "unknown") == bool(decision.doubt)


@pytest.mark.untraced
@pytest.mark.integration
@pytest.mark.parametrize(
    ("route", "operation_id"),
    [
        ("/x", "zq_" * 33_333),
        ("/x", "aB" * 50_000),
        ("/x/" + "zq_" * 33_333, ""),
        ("/x/" + "aB" * 50_000, "a"),
    ],
)
def test_many_operations_of_hostile_words_are_read_soon(route: str, operation_id: str) -> None:
    began = time.process_time()
    for method in ("get", "post") * 20:
        effect_of_operation(method, route, operation_id)
    assert time.process_time() - began < 3

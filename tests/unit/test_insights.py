"""Which requests are searches of people, and which searches belong together."""

import threading

import pytest

from app.cache.redis_client import RedisClient
from app.cache.store import Keys
from app.insights.proposals import candidates
from app.insights.search_log import SearchLog
from app.insights.sessions import MOST, Event, Visitor, pairs, searches, visitor_of
from app.search.request import SearchRequest

BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"


def _events(*requests: tuple[float, str, bool]) -> list[Event]:
    return [Event(at, "c", f"q={q}", q, "HIT", has_hits, 0.01) for at, q, has_hits in requests]


def _searched(*requests: tuple[float, str]) -> list[str]:
    return [event.q for event in searches(_events(*((at, q, True) for at, q in requests)))]


@pytest.mark.parametrize(
    ("requests", "expected"),
    [
        ([(0, "python")], ["python"]),
        # results while the visitor types
        ([(0, "p"), (0.3, "py"), (0.9, "pyth"), (1.4, "python")], ["python"]),
        # a slow typist
        ([(0, "py"), (4, "python")], ["python"]),
        ([(0, "py"), (6, "python")], ["py", "python"]),
        # deleted and typed again
        ([(0, "python"), (9, "pyth"), (9.3, "p"), (9.9, "ru"), (10.2, "rust")], ["python", "rust"]),
        ([(0, "kubernets"), (1, "kuberne"), (1.5, "kubernetes")], ["kubernetes"]),
        # words taken away
        ([(0, "python django"), (8, "python")], ["python django", "python"]),
        # reloaded, filtered, sorted, in another case
        ([(0, "python"), (10, "python"), (20, "Python")], ["python"]),
        ([(0, "python"), (10, "rust"), (20, "python")], ["python", "rust", "python"]),
        # of one moment, in any order
        ([(1.4, "python"), (0, "p")], ["python"]),
        ([], []),
    ],
)
def test_typing_in_between_is_not_a_search(
    requests: list[tuple[float, str]], expected: list[str]
) -> None:
    assert _searched(*requests) == expected


def test_without_redis_nothing_is_counted_or_archived_in_the_background() -> None:
    client = RedisClient(None, 0.2)
    log = SearchLog(client, Keys("posts", ""), days=7, on_new_day=lambda: pytest.fail("archived"))
    before = threading.active_count()
    log.record("OFF", SearchRequest("python"), visitor=Visitor("127.0.0.1", BROWSER))
    assert threading.active_count() <= before


def test_who_searches_all_the_time_is_a_program() -> None:
    assert len(_searched(*((4.0 * n, f"word{n}") for n in range(MOST)))) == MOST
    assert _searched(*((4.0 * n, f"word{n}") for n in range(MOST + 1))) == []


@pytest.mark.parametrize(
    ("requests", "expected"),
    [
        ([("k8s", False), ("kubernetes", True)], [("k8s", "kubernetes")]),
        ([("k8s", False), ("kube", False), ("pods", True)], [("k8s", "pods"), ("kube", "pods")]),
        ([("k8s", False)], []),
        ([("pods", True), ("k8s", False)], []),
        ([("K8s", False), ("pods", True), ("rust", True)], [("k8s", "pods")]),
    ],
)
def test_what_was_tried_next_and_succeeded(
    requests: list[tuple[str, bool]], expected: list[tuple[str, str]]
) -> None:
    events = _events(*((10.0 * n, q, has_hits) for n, (q, has_hits) in enumerate(requests)))
    assert pairs(searches(events)) == expected


def test_an_event_survives_redis() -> None:
    (event,) = _events((1.5, 'na"ïve\n', False))
    assert Event.load(event.dump().encode()) == event


@pytest.mark.parametrize(
    "headers",
    [
        {"HTTP_DNT": "1"},
        {"HTTP_SEC_GPC": "1"},
        {"HTTP_SEC_PURPOSE": "prefetch;prerender"},
    ],
)
def test_who_does_not_agree_is_not_counted(headers: dict[str, str]) -> None:
    environ = {"HTTP_USER_AGENT": BROWSER, "REMOTE_ADDR": "192.0.2.1"}
    assert visitor_of(environ) == ("192.0.2.1", BROWSER)
    assert visitor_of({**environ, **headers}) is None


@pytest.mark.parametrize(
    "user_agent",
    [
        "",
        "curl/8.5.0",
        "python-requests/2.32",
        "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
        "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2)",
        "Mozilla/5.0 (X11; Linux x86_64) HeadlessChrome/120.0 Safari/537.36",
    ],
)
def test_programs_are_not_counted(user_agent: str) -> None:
    assert visitor_of({"HTTP_USER_AGENT": user_agent, "REMOTE_ADDR": "192.0.2.1"}) is None


@pytest.mark.parametrize(
    "user_agent",
    [
        BROWSER,
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 "
        "(KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
        "Mozilla/5.0 (Linux; Android 14; CUBOT X50) AppleWebKit/537.36 Chrome/126.0 Mobile",
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/126.0.0.0 Safari/537.36 Edg/126.0",
    ],
)
def test_browsers_are_counted(user_agent: str) -> None:
    assert visitor_of({"HTTP_USER_AGENT": user_agent, "REMOTE_ADDR": "::1"})


@pytest.mark.parametrize(
    ("failed", "succeeded", "rule"),
    [
        ("k8s", "kubernetes", "k8s => kubernetes"),
        ("k8s cluster", "kubernetes cluster", "k8s => kubernetes"),
        ("ml", "machine learning", "ml => machine learning"),
        ("c sharp", "c#", "c sharp => c#"),
        ("soup recipe", "soup", None),
        ("soup", "soup recipe", None),
        ("a, b", "c => d", "a b => c d"),
        ("one two three four", "five", None),
        ('"k8s"', "kubernetes", None),
        ("k8s -docker", "kubernetes", None),
        ("soup -leeks", "soup", None),
        ("!!!", "kubernetes", None),
    ],
)
def test_what_rule_is_made_of_a_pair(failed: str, succeeded: str, rule: str | None) -> None:
    proposed = [candidate.rule for candidate in candidates([((failed, succeeded), 2)])]
    assert proposed == ([rule] if rule else [])


def test_one_rule_for_a_word_and_none_for_what_happened_once() -> None:
    pairs = [(("k8s", "kubernetes"), 3), (("k8s", "docker"), 2), (("ml", "learning"), 2)]
    rules = [candidate.rule for candidate in candidates([*pairs, (("hotwire", "transitions"), 1)])]
    assert rules == ["k8s => kubernetes", "ml => learning"]

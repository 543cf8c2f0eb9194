"""Watches: every event once, in order, from any version that is held; and what a reader that sleeps or lags is told."""

import msgspec
import pytest

from baseload.embedded.store import watch as watching
from baseload.embedded.store.errors import Gone
from baseload.embedded.store.log import Event
from baseload.embedded.store.record import Json
from baseload.embedded.store.selection import Selection
from baseload.embedded.store.watch import Watch
from baseload.values import selector
from tests.embedded.store import kinds
from tests.embedded.store.kinds import CONFIG_MAP, POD, Store


def told(events: list[Event]) -> list[tuple[str, str]]:
    return [(event.type, event.record.name) for event in events]


def decoded(watch: Watch, event: Event) -> Json:
    line = watch.frame(event)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    tree: Json = msgspec.json.decode(line)
    return tree


def update(store: Store, name: str, value: str) -> None:
    store.update(kinds.config_map(name, value=value))


def test_a_watch_tells_what_happened_after_its_version_and_nothing_before() -> None:
    store = kinds.fresh()
    store.create(kinds.config_map("a"))
    watch = store.watch(CONFIG_MAP, version=store.version)
    store.create(kinds.config_map("b"))
    update(store, "a", "2")
    store.create(kinds.pod("p"))
    store.delete(CONFIG_MAP, "default", "b")

    events = watch.read()

    assert told(events) == [("ADDED", "b"), ("MODIFIED", "a"), ("DELETED", "b")]
    assert [event.version for event in events] == sorted({event.version for event in events})
    assert watch.read() == []


def test_an_old_version_that_is_held_is_caught_up_with_in_portions() -> None:
    store = kinds.fresh()
    version = store.version
    for number in range(5):
        store.create(kinds.config_map(f"c-{number}"))
    watch = store.watch(CONFIG_MAP, version=version)

    portions = [len(watch.read(2)) for _ in range(4)]

    assert portions == [2, 2, 1, 0]
    assert not watch.is_behind
    assert watch.version == store.version


def test_a_version_that_is_no_longer_held_is_gone() -> None:
    store = kinds.fresh(history=3)
    store.create(kinds.config_map("a"))
    old, lagging = store.version, store.watch(CONFIG_MAP, version=store.version)
    for value in range(9):
        update(store, "a", str(value))

    with pytest.raises(Gone, match=rf"^too old resource version: {old} \(\d+\)$"):
        store.watch(CONFIG_MAP, version=old)
    with pytest.raises(Gone):
        lagging.read()


def test_a_quiet_kind_keeps_its_watches_however_busy_the_others_are() -> None:
    store = kinds.fresh(history=3)
    store.create(kinds.config_map("a"))
    watch = store.watch(POD, version=store.version)
    for value in range(50):
        update(store, "a", str(value))

    assert watch.read() == []
    assert watch.version == store.version
    store.watch(POD, version=watch.version)


@pytest.mark.parametrize("version", [None, 0])
def test_a_watch_from_nowhere_begins_with_what_is_there(version: int | None) -> None:
    store = kinds.fresh()
    for name in "ba":
        store.create(kinds.config_map(name))
    watch = store.watch(CONFIG_MAP, version=version)
    store.create(kinds.config_map("c"))

    assert told(watch.read()) == [("ADDED", "a"), ("ADDED", "b")]
    assert told(watch.read()) == [("ADDED", "c")]


def test_a_watch_list_ends_its_initial_events_with_a_bookmark_that_says_so() -> None:
    store = kinds.fresh()
    for name in "abc":
        store.create(kinds.config_map(name))
    version = store.version
    watch = store.watch(CONFIG_MAP, initial_events=True)
    update(store, "a", "2")

    events = [event for _ in range(3) for event in watch.read(2)]

    assert told(events) == [
        ("ADDED", "a"),
        ("ADDED", "b"),
        ("ADDED", "c"),
        ("BOOKMARK", ""),
        ("MODIFIED", "a"),
    ]
    assert decoded(watch, events[3]) == {
        "type": "BOOKMARK",
        "object": {
            "kind": "ConfigMap",
            "apiVersion": "v1",
            "metadata": {
                "resourceVersion": str(version),
                "annotations": {watching.INITIAL_EVENTS_END: "true"},
            },
        },
    }


def test_a_watch_list_of_nothing_is_a_bookmark() -> None:
    watch = kinds.fresh().watch(POD, version=0, initial_events=True)

    assert watch.is_behind
    assert [event.type for event in watch.read()] == ["BOOKMARK"]
    assert not watch.is_behind


def test_a_bookmark_names_a_version_from_which_nothing_is_missed() -> None:
    store = kinds.fresh()
    watch = store.watch(CONFIG_MAP, version=store.version)
    store.create(kinds.pod("p"))
    assert watch.read() == []
    mark = watch.bookmark()
    store.create(kinds.config_map("a"))

    assert mark.version == store.version - 1
    assert told(store.watch(CONFIG_MAP, version=mark.version).read()) == [("ADDED", "a")]


def test_objects_enter_and_leave_a_selection() -> None:
    store = kinds.fresh()
    store.create(kinds.config_map("a"))
    watch = store.watch(CONFIG_MAP, Selection(labels=selector.parse("app=x")), version=store.version)
    for app in ("x", "x", "y", "y", "x"):
        store.update(kinds.config_map("a", value=str(store.version), labels={"app": app}))
    store.create(kinds.config_map("b", labels={"app": "y"}))
    store.delete(CONFIG_MAP, "default", "b")
    store.delete(CONFIG_MAP, "default", "a")

    events = watch.read()

    assert told(events) == [
        ("ADDED", "a"),
        ("MODIFIED", "a"),
        ("DELETED", "a"),
        ("ADDED", "a"),
        ("DELETED", "a"),
    ]
    assert all(event.record.shared.labels == {"app": "x"} for event in events)
    assert [event.record.version for event in events] == [event.version for event in events]


def test_watchers_of_one_event_may_see_different_objects() -> None:
    store = kinds.fresh()
    store.create(kinds.config_map("a", labels={"app": "x"}))
    selections = [Selection(labels=selector.parse(f"app={app}")) for app in "xy"]
    leaving, entering = (store.watch(CONFIG_MAP, selection, version=store.version) for selection in selections)
    store.update(kinds.config_map("a", labels={"app": "y"}))

    lines = [watch.frame(event) for watch in (leaving, entering, leaving) for event in watch.read()]

    assert [b'"app":"x"' in lines[0], b'"app":"y"' in lines[1]] == [True, True]
    assert lines[0].startswith(b'{"type":"DELETED"')


def test_a_pod_is_watched_by_node() -> None:
    store = kinds.fresh()
    watch = store.watch(POD, Selection(fields=selector.parse_fields("spec.nodeName=n")), version=store.version)
    store.create(kinds.pod("a"))
    store.create(kinds.pod("b"))
    store.change(POD, "default", "a", lambda old: old.bound("n"))
    store.change(POD, "default", "b", lambda old: old.bound("m"))

    assert told(watch.read()) == [("ADDED", "a")]


def test_an_object_is_encoded_once_for_all_who_watch_it() -> None:
    store = kinds.fresh()
    watches = [store.watch(CONFIG_MAP, version=store.version) for _ in range(2)]
    store.create(kinds.config_map("a"))
    (first,), (second,) = (watch.read() for watch in watches)

    log = store.table(CONFIG_MAP).log
    assert first is second
    assert log.encoded(first) is log.encoded(second)


def test_sleepers_are_woken_once_by_the_next_event_of_their_kind() -> None:
    store = kinds.fresh()
    watch = store.watch(CONFIG_MAP, version=store.version)
    calls: list[str] = []

    assert watch.sleep(lambda: calls.append("woken"))
    store.create(kinds.pod("p"))
    assert calls == []
    store.create(kinds.config_map("a"))
    store.create(kinds.config_map("b"))

    assert calls == ["woken"]
    assert not watch.sleep(lambda: None)
    assert len(watch.read()) == 2


def test_a_closed_watch_is_not_woken() -> None:
    store = kinds.fresh()
    watch = store.watch(CONFIG_MAP, version=store.version)
    calls: list[str] = []
    watch.sleep(lambda: calls.append("woken"))

    watch.close()
    store.create(kinds.config_map("a"))

    assert calls == []


def test_a_sleeper_that_writes_when_it_is_woken_is_a_mistake() -> None:
    store = kinds.fresh()
    watch = store.watch(CONFIG_MAP, version=store.version)
    watch.sleep(lambda: update(store, "a", "2"))

    with pytest.raises(RuntimeError, match="may only take a note"):
        store.create(kinds.config_map("a"))


def test_the_history_is_bounded() -> None:
    store = kinds.fresh(history=10)
    store.create(kinds.config_map("a"))
    for value in range(100):
        update(store, "a", str(value))
        log = store.table(CONFIG_MAP).log
        assert len(log.events) <= 20
    assert len(log.events) >= 10


def test_subscribers_hear_of_the_classes_that_they_asked_for() -> None:
    store = kinds.fresh()
    rings: list[str] = []
    subscription = store.subscribe(POD, ("bound", "removed"), lambda: rings.append("ring"))
    store.create(kinds.pod("a"))
    store.change(POD, "default", "a", lambda old: old.bound("n"))
    store.change(POD, "default", "a", lambda old: old.with_status(b"{}"), "status")
    store.delete(POD, "default", "a")
    store.delete(POD, "default", "a", kinds.NOW)

    events = subscription.take()

    assert [event.type for event in events] == ["MODIFIED", "DELETED"]
    assert rings == ["ring"]
    store.create(kinds.pod("b"))
    store.change(POD, "default", "b", lambda old: old.bound("n"))
    assert len(rings) == 2
    assert len(subscription.take()) == 1
    store.unsubscribe(POD, subscription)
    store.delete(POD, "default", "b", kinds.NOW)
    assert subscription.take() == []


def test_subscribers_are_not_woken_by_what_they_do_not_want_and_miss_nothing_after_what_they_want() -> None:
    store = kinds.fresh()
    rings: list[str] = []
    heard = store.subscribe(POD, ("added",), lambda: rings.append("ring"), lambda event: event.record.name == "b")
    store.create(kinds.pod("a"))
    assert rings == []
    store.create(kinds.pod("b"))
    store.create(kinds.pod("c"))
    assert rings == ["ring"]
    assert [event.record.name for event in heard.take()] == ["b", "c"]
    store.create(kinds.pod("d"))
    assert heard.take() == []


def test_every_change_has_one_class() -> None:
    store = kinds.fresh()
    classes = ("added", "bound", "status", "spec", "other", "marked", "removed")
    heard = {name: store.subscribe(POD, (name,), lambda: None) for name in classes}
    store.create(kinds.pod("a"))
    store.change(POD, "default", "a", lambda old: old.bound("n"))
    store.change(POD, "default", "a", lambda old: old.with_status(b"{}"), "status")
    store.change(POD, "default", "a", lambda old: old.with_body(kinds.draft(POD, "a", spec={"x": 1}).body))
    store.update(kinds.draft(POD, "a", spec={"x": 1, "nodeName": "n"}, metadata={"labels": {"a": "b"}}))
    store.delete(POD, "default", "a")
    store.delete(POD, "default", "a", kinds.NOW)

    assert {name: len(subscription.take()) for name, subscription in heard.items()} == dict.fromkeys(classes, 1)

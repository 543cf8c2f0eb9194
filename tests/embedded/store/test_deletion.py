"""Deleting: preconditions, grace, finalizers, and when an object is gone at last."""

import re

import pytest
from msgspec.structs import replace

from baseload.embedded.store.deletion import Options, Propagation
from baseload.embedded.store.errors import Conflict, Invalid
from baseload.embedded.store.record import Deletion, Json, Record
from baseload.embedded.store.selection import Selection
from baseload.values import selector
from tests.embedded.clock import Standing
from tests.embedded.store import kinds
from tests.embedded.store.kinds import CONFIG_MAP, POD, REPLICA_SET, Store, draft


def released(record: Record) -> Record:
    return replace(record, finalizers=())


def running(*, clock: Standing | None = None, finalizers: list[Json] | None = None) -> Store:
    """A store with a pod that runs on a node."""
    store = kinds.fresh(clock=clock)
    store.create(kinds.pod("a", node="n", finalizers=finalizers or []))
    return store


def test_an_object_that_nothing_holds_goes_at_once() -> None:
    store = kinds.fresh()
    created = store.create(kinds.config_map("a"))

    removed, is_gone = store.delete(CONFIG_MAP, "default", "a")

    assert is_gone
    assert removed.version == created.version + 1
    assert store.find(CONFIG_MAP, "default", "a") is None


def test_a_running_pod_is_given_its_grace_and_goes_when_its_kubelet_says_so() -> None:
    store = running()

    marked, is_gone = store.delete(POD, "default", "a")

    assert not is_gone
    assert marked.deletion == Deletion("2026-11-30T12:00:30Z", 30)
    assert marked.generation == 2
    assert store.delete(POD, "default", "a", Options(grace_seconds=0)).is_gone


def test_a_second_delete_may_shorten_the_grace_but_not_lengthen_it() -> None:
    clock = Standing()
    store = running(clock=clock)
    store.delete(POD, "default", "a")
    clock.forward(10)

    longer = store.delete(POD, "default", "a", Options(grace_seconds=60)).record
    shorter = store.delete(POD, "default", "a", Options(grace_seconds=5)).record

    assert longer.deletion == Deletion("2026-11-30T12:00:30Z", 30)
    assert shorter.deletion == Deletion("2026-11-30T12:00:05Z", 5)


def test_a_second_delete_that_changes_nothing_is_no_write() -> None:
    store = running()
    marked = store.delete(POD, "default", "a").record

    assert store.delete(POD, "default", "a").record is marked
    assert store.version == marked.version


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (Options(uid="other"), r"the UID in the precondition \(other\) does not match the UID in record"),
        (Options(version=1), r"the ResourceVersion in the precondition \(1\) does not match the ResourceVersion in"),
    ],
)
def test_a_delete_of_another_object_or_state_is_a_conflict(options: Options, words: str) -> None:
    store = running()

    with pytest.raises(Conflict, match=words):
        store.delete(POD, "default", "a", options)

    assert store.get(POD, "default", "a").deletion is None


def test_preconditions_that_hold_let_the_delete_through() -> None:
    store = kinds.fresh()
    created = store.create(kinds.config_map("a"))

    options = Options(uid=created.uid, version=created.version)
    assert store.delete(CONFIG_MAP, "default", "a", options).is_gone


def test_the_last_finalizer_that_goes_takes_the_object_along() -> None:
    store = kinds.fresh()
    store.create(draft(REPLICA_SET, "web", metadata={"finalizers": ["a.io/x", "b.io/y"]}))
    marked, is_gone = store.delete(REPLICA_SET, "default", "web")
    watch = store.watch(REPLICA_SET, version=store.version)

    assert (is_gone, marked.deletion) == (False, Deletion("2026-11-30T12:00:00Z", 0))
    store.change(REPLICA_SET, "default", "web", lambda old: replace(old, finalizers=("b.io/y",)))
    assert store.find(REPLICA_SET, "default", "web") is not None
    store.change(REPLICA_SET, "default", "web", released)

    assert store.find(REPLICA_SET, "default", "web") is None
    events = watch.read()
    assert [(event.type, event.record.finalizers) for event in events] == [("MODIFIED", ("b.io/y",)), ("DELETED", ())]


def test_a_pod_without_finalizers_stays_while_its_grace_runs() -> None:
    store = running(finalizers=["a.io/x"])
    store.delete(POD, "default", "a")

    store.change(POD, "default", "a", released)
    assert store.find(POD, "default", "a") is not None

    assert store.delete(POD, "default", "a", Options(grace_seconds=0)).is_gone


def test_a_grace_that_is_over_does_not_remove_what_a_finalizer_holds() -> None:
    store = running(finalizers=["a.io/x"])

    assert not store.delete(POD, "default", "a", Options(grace_seconds=0)).is_gone

    store.change(POD, "default", "a", released)
    assert store.find(POD, "default", "a") is None


def test_no_finalizer_can_be_added_to_what_ends() -> None:
    store = running(finalizers=["a.io/x"])
    store.delete(POD, "default", "a")

    words = 'no new finalizers can be added if the object is being deleted, found new finalizers []string{"b.io/y"}'
    with pytest.raises(Invalid, match=re.escape(words)):
        store.change(POD, "default", "a", lambda old: replace(old, finalizers=("a.io/x", "b.io/y")))


@pytest.mark.parametrize(
    ("propagation", "finalizers"),
    [
        (None, ("a.io/x", "orphan")),
        ("Orphan", ("a.io/x", "orphan")),
        ("Foreground", ("a.io/x", "foregroundDeletion")),
        ("Background", ("a.io/x",)),
    ],
)
def test_the_propagation_decides_about_the_collectors_finalizers(
    propagation: Propagation | None, finalizers: tuple[str, ...]
) -> None:
    store = running(finalizers=["a.io/x", "orphan"])

    assert store.delete(POD, "default", "a", Options(propagation=propagation)).record.finalizers == finalizers


def test_deleting_a_collection_deletes_what_is_selected() -> None:
    store = kinds.fresh()
    store.create(kinds.namespace("other"))
    for name, namespace, app in (("a", "default", "x"), ("b", "default", "y"), ("c", "other", "x")):
        store.create(kinds.config_map(name, namespace, labels={"app": app}))

    deleted = store.delete_collection(CONFIG_MAP, Selection("default", selector.parse("app=x")))

    assert [record.name for record in deleted] == ["a"]
    assert sorted(store.table(CONFIG_MAP).records) == ["default/b", "other/c"]

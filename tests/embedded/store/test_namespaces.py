"""Namespaces: nothing begins where there is none, and all goes with the one that ends."""

import msgspec
import pytest
from msgspec.structs import replace

from baseload.embedded.store import record
from baseload.embedded.store.deletion import Options
from baseload.embedded.store.errors import Forbidden, NotFound
from baseload.embedded.store.record import Json
from tests.embedded.store import kinds
from tests.embedded.store.kinds import CONFIG_MAP, NAMESPACE, POD, Store


def filled() -> Store:
    """A store with a namespace that holds a running pod and a config map."""
    store = kinds.fresh()
    store.create(kinds.namespace("shop"))
    store.create(kinds.pod("a", "shop", node="n"))
    store.create(kinds.config_map("c", "shop"))
    return store


def status(store: Store) -> dict[str, Json]:
    tree: dict[str, Json] = msgspec.json.decode(record.encode(store.get(NAMESPACE, "", "shop")))["status"]
    return tree


def test_nothing_is_created_in_a_namespace_that_is_not_there() -> None:
    with pytest.raises(NotFound, match=r'^namespaces "shop" not found$'):
        kinds.fresh().create(kinds.pod("a", "shop"))


def test_nothing_is_created_in_a_namespace_that_ends() -> None:
    store = filled()
    store.delete(NAMESPACE, "", "shop")

    with pytest.raises(Forbidden) as refusal:
        store.create(kinds.pod("b", "shop"))

    assert str(refusal.value) == (
        'pods "b" is forbidden: unable to create new content in namespace shop because it is being terminated'
    )
    assert [(cause.reason, cause.message, cause.field) for cause in refusal.value.causes] == [
        ("NamespaceTerminating", "namespace shop is being terminated", "metadata.namespace")
    ]


def test_a_namespace_ends_when_its_contents_are_gone_pods_first() -> None:
    store = filled()

    assert not store.delete(NAMESPACE, "", "shop").is_gone
    assert status(store)["phase"] == "Terminating"
    store.tidy()
    assert store.get(POD, "shop", "a").deletion is not None
    assert store.find(CONFIG_MAP, "shop", "c") is not None
    store.delete(POD, "shop", "a", Options(grace_seconds=0))
    store.tidy()

    assert store.find(CONFIG_MAP, "shop", "c") is None
    assert store.find(NAMESPACE, "", "shop") is None
    assert store.find(NAMESPACE, "", "default") is not None


def test_a_namespace_that_waits_says_for_what() -> None:
    store = filled()
    store.change(POD, "shop", "a", lambda old: replace(old, finalizers=("a.io/x",)))
    store.delete(NAMESPACE, "", "shop")

    store.tidy()

    conditions = status(store)["conditions"]
    assert isinstance(conditions, list)
    told = {c["type"]: (c["status"], c["message"]) for c in conditions if isinstance(c, dict)}
    assert told["NamespaceContentRemaining"] == (
        "True",
        "Some resources are remaining: configmaps. has 1 resource instances, pods. has 1 resource instances",
    )
    assert told["NamespaceFinalizersRemaining"] == (
        "True",
        "Some content in the namespace has finalizers remaining: a.io/x in 1 resource instances",
    )


def test_a_namespace_that_waits_is_not_written_to_over_and_over() -> None:
    store = filled()
    store.delete(NAMESPACE, "", "shop")
    store.tidy()

    assert store.tidy() == 0


def test_a_namespace_is_held_by_its_own_finalizers_too() -> None:
    store = filled()
    store.change(NAMESPACE, "", "shop", lambda old: replace(old, finalizers=("a.io/x",)))
    store.delete(NAMESPACE, "", "shop")
    store.delete(POD, "shop", "a", Options(grace_seconds=0))
    store.tidy()
    assert store.find(NAMESPACE, "", "shop") is not None

    store.change(NAMESPACE, "", "shop", lambda old: replace(old, finalizers=()))

    assert store.find(NAMESPACE, "", "shop") is None


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public"])
def test_the_systems_namespaces_may_not_go(name: str) -> None:
    store = kinds.empty()
    store.create(kinds.namespace(name))

    with pytest.raises(Forbidden, match=f'^namespaces "{name}" is forbidden: this namespace may not be deleted$'):
        store.delete(NAMESPACE, "", name)

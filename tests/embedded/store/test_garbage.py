"""The garbage collector: what happens to objects whose owners go."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from baseload.embedded.store.deletion import Options, Propagation
from baseload.embedded.store.record import Json, Record
from baseload.embedded.store.resource import Resource
from tests.embedded.store import kinds
from tests.embedded.store.kinds import CONFIG_MAP, DEPLOYMENT, NODE, NODE_CLAIM, POD, REPLICA_SET, Store, draft, owner

FOREGROUND = Options(propagation="Foreground")
ORPHAN = Options(propagation="Orphan")


def owned(store: Store, resource: Resource, name: str, *owners: Record, block: bool = True, **metadata: Json) -> Record:
    references: list[Json] = [owner(record, block=block, controller=False) for record in owners]
    return store.create(draft(resource, name, metadata={"ownerReferences": references, **metadata}))


def application(store: Store) -> None:
    """A Deployment, its ReplicaSet and two pods of that."""
    deployment = store.create(draft(DEPLOYMENT, "web"))
    replicas = owned(store, REPLICA_SET, "web-1", deployment)
    owned(store, POD, "web-1-a", replicas)
    owned(store, POD, "web-1-b", replicas)
    store.tidy()


def names(store: Store) -> set[str]:
    return {key for resource in (DEPLOYMENT, REPLICA_SET, POD, CONFIG_MAP) for key in store.table(resource).records}


def test_objects_go_after_their_owners() -> None:
    store = kinds.fresh()
    application(store)

    assert store.delete(DEPLOYMENT, "default", "web").is_gone
    assert len(names(store)) == 3
    store.tidy()

    assert names(store) == set()


def test_the_foreground_way_holds_owners_until_all_that_blocks_them_is_gone() -> None:
    store = kinds.fresh()
    application(store)
    store.change(POD, "default", "web-1-a", lambda old: replace(old, finalizers=("a.io/x",)))
    watches = [store.watch(resource, version=store.version) for resource in (DEPLOYMENT, REPLICA_SET, POD)]

    assert not store.delete(DEPLOYMENT, "default", "web", FOREGROUND).is_gone
    store.tidy()
    assert names(store) == {"default/web", "default/web-1", "default/web-1-a"}
    assert store.get(REPLICA_SET, "default", "web-1").finalizers == ("foregroundDeletion",)
    store.change(POD, "default", "web-1-a", lambda old: replace(old, finalizers=()))
    store.tidy()

    assert names(store) == set()
    gone = sorted((e.version, e.record.name) for watch in watches for e in watch.read() if e.type == "DELETED")
    assert [name for _, name in gone] == ["web-1-b", "web-1-a", "web-1", "web"]


def test_the_foreground_way_does_not_wait_for_what_does_not_block() -> None:
    store = kinds.fresh()
    replicas = store.create(draft(REPLICA_SET, "web"))
    owned(store, POD, "a", replicas, block=False, finalizers=["a.io/x"])

    store.delete(REPLICA_SET, "default", "web", FOREGROUND)
    store.tidy()

    assert names(store) == {"default/a"}
    assert store.get(POD, "default", "a").deletion is not None


def test_the_orphan_way_leaves_dependents_without_that_owner() -> None:
    store = kinds.fresh()
    application(store)

    store.delete(DEPLOYMENT, "default", "web", ORPHAN)
    store.tidy()

    assert names(store) == {"default/web-1", "default/web-1-a", "default/web-1-b"}
    assert store.get(REPLICA_SET, "default", "web-1").shared.owners == ()
    assert [o.name for o in store.get(POD, "default", "web-1-a").shared.owners] == ["web-1"]


@pytest.mark.parametrize("propagation", ["Background", "Foreground"])
def test_an_object_with_an_owner_left_stays_and_forgets_the_one_that_went(propagation: Propagation) -> None:
    store = kinds.fresh()
    one, other = store.create(draft(REPLICA_SET, "one")), store.create(draft(REPLICA_SET, "other"))
    owned(store, POD, "a", one, other)

    store.delete(REPLICA_SET, "default", "one", Options(propagation=propagation))
    store.tidy()

    assert names(store) == {"default/other", "default/a"}
    assert [o.name for o in store.get(POD, "default", "a").shared.owners] == ["other"]


def test_an_object_whose_owner_was_never_there_goes() -> None:
    store = kinds.fresh()
    claim = store.create(draft(NODE_CLAIM, "c"))
    store.delete(NODE_CLAIM, "", "c")
    owned(store, NODE, "n", claim)
    owned(store, POD, "p", claim)

    store.tidy()

    assert store.find(NODE, "", "n") is None
    assert store.find(POD, "default", "p") is None


def test_another_object_of_the_owners_name_is_not_the_owner() -> None:
    store = kinds.fresh()
    first = store.create(draft(REPLICA_SET, "web"))
    owned(store, POD, "a", first)
    store.delete(REPLICA_SET, "default", "web")
    store.create(draft(REPLICA_SET, "web"))

    store.tidy()

    assert names(store) == {"default/web"}


def test_an_owner_in_another_namespace_is_none() -> None:
    store = kinds.fresh()
    store.create(kinds.namespace("other"))
    elsewhere = store.create(draft(REPLICA_SET, "web", "other"))
    owned(store, POD, "a", elsewhere)

    store.tidy()

    assert names(store) == {"other/web"}


def test_an_owner_does_not_wait_for_what_names_it_from_another_namespace() -> None:
    store = kinds.fresh()
    store.create(kinds.namespace("other"))
    elsewhere = store.create(draft(REPLICA_SET, "web", "other"))
    one = store.create(draft(REPLICA_SET, "one"))
    owned(store, POD, "a", elsewhere, one)

    store.delete(REPLICA_SET, "other", "web", FOREGROUND)
    store.tidy()

    assert names(store) == {"default/one", "default/a"}


def test_an_owner_of_a_kind_that_is_not_served_counts_as_alive_until_it_is_served() -> None:
    store = kinds.fresh()
    connector = Resource("tailscale.com", "v1alpha1", "Connector", "connectors")
    reference = {"apiVersion": "tailscale.com/v1alpha1", "kind": "Connector", "name": "x", "uid": "u"}
    store.create(kinds.pod("a", ownerReferences=[dict(reference)]))

    store.tidy()
    assert names(store) == {"default/a"}
    store.serve(connector)
    store.tidy()

    assert names(store) == set()


def test_a_cluster_wide_object_cannot_be_owned_by_one_in_a_namespace() -> None:
    store = kinds.fresh()
    replicas = store.create(draft(REPLICA_SET, "web"))
    owned(store, NODE, "n", replicas)
    store.delete(REPLICA_SET, "default", "web")

    store.tidy()

    assert store.find(NODE, "", "n") is not None


def test_owners_that_wait_for_each_other_in_a_circle_go() -> None:
    store = kinds.fresh()
    one = store.create(draft(REPLICA_SET, "one"))
    other = owned(store, REPLICA_SET, "other", one)
    store.update(draft(REPLICA_SET, "one", metadata={"ownerReferences": [owner(other)]}))
    store.tidy()

    store.delete(REPLICA_SET, "default", "one", FOREGROUND)
    store.tidy()

    assert names(store) == set()


@pytest.mark.parametrize("options", [FOREGROUND, ORPHAN])
def test_an_owner_of_itself_is_let_go(options: Options) -> None:
    store = kinds.fresh()
    alone = store.create(draft(REPLICA_SET, "alone"))
    store.update(draft(REPLICA_SET, "alone", metadata={"ownerReferences": [owner(alone)]}))

    store.delete(REPLICA_SET, "default", "alone", options)
    store.tidy()

    assert names(store) == set()


def test_a_dependent_that_ends_by_its_own_grace_is_not_hurried() -> None:
    store = kinds.fresh()
    replicas = store.create(draft(REPLICA_SET, "web"))
    store.create(kinds.pod("a", node="n", ownerReferences=[owner(replicas)]))

    store.delete(REPLICA_SET, "default", "web", FOREGROUND)
    store.tidy()
    assert names(store) == {"default/web", "default/a"}
    store.delete(POD, "default", "a", Options(grace_seconds=0))
    store.tidy()

    assert names(store) == set()


def test_a_namespace_that_may_not_go_outlives_its_owner() -> None:
    store = kinds.fresh()
    node = store.create(draft(NODE, "n"))
    store.update(draft(kinds.NAMESPACE, "default", metadata={"ownerReferences": [owner(node)]}))
    store.delete(NODE, "", "n")

    store.tidy()

    assert store.find(kinds.NAMESPACE, "", "default") is not None


PARENTS = st.lists(st.tuples(st.sets(st.integers(0, 9), max_size=3), st.booleans()), min_size=1, max_size=10)
DELETES = st.lists(st.tuples(st.integers(0, 9), st.sampled_from(["Background", "Foreground", "Orphan"])), max_size=5)


@given(PARENTS, DELETES)
def test_collecting_leaves_no_orphan_and_deletes_nothing_that_a_living_owner_owns(
    parents: list[tuple[set[int], bool]], deletes: list[tuple[int, Propagation]]
) -> None:
    """Objects own others with higher numbers; some are deleted, in any way."""
    store = kinds.fresh()
    made: list[Record] = []
    for number, (owners, block) in enumerate(parents):
        mine = [made[i] for i in sorted(owners) if i < number]
        made.append(owned(store, CONFIG_MAP, f"c-{number}", *mine, block=block))
    alive = {number: {i for i in owners if i < number} for number, (owners, _) in enumerate(parents)}

    for number, propagation in deletes:
        found = store.find(CONFIG_MAP, "default", f"c-{number}")
        if found is None or found.deletion is not None:
            continue
        store.delete(CONFIG_MAP, "default", f"c-{number}", Options(propagation=propagation))
        store.tidy()
        _expect(alive, number, propagation)

    assert names(store) == {f"default/c-{number}" for number in alive}
    for number, owners in alive.items():
        record = store.get(CONFIG_MAP, "default", f"c-{number}")
        assert [o.name for o in record.shared.owners] == [f"c-{i}" for i in sorted(owners)]
        assert record.deletion is None


GRAPH = st.lists(st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=2), min_size=2, max_size=6)
WAYS = st.sampled_from([None, "Background", "Foreground", "Orphan"])


@given(GRAPH, st.sets(st.integers(0, 5)), st.lists(st.tuples(st.integers(0, 5), WAYS, st.booleans()), max_size=4))
def test_whatever_owns_what_collecting_ends_and_what_is_left_names_living_owners(
    graph: list[list[tuple[int, bool]]], elsewhere: set[int], deletes: list[tuple[int, Propagation | None, bool]]
) -> None:
    """Owners in circles, of themselves and from another namespace; collected after every delete or after several."""
    store = kinds.fresh()
    store.create(kinds.namespace("other"))
    places = [("other" if number in elsewhere else "default", f"c-{number}") for number in range(len(graph))]
    made = [store.create(kinds.config_map(name, namespace)) for namespace, name in places]
    for (namespace, name), edges in zip(places, graph, strict=True):
        references: list[Json] = [owner(made[i], block=block) for i, block in edges if i < len(made)]
        store.update(kinds.config_map(name, namespace, ownerReferences=references))
    for number, propagation, is_collected in deletes:
        if number < len(places) and store.find(CONFIG_MAP, *places[number]) is not None:
            store.delete(CONFIG_MAP, *places[number], Options(propagation=propagation))
        if is_collected:
            store.tidy()
    store.tidy()

    assert store.tidy() == 0
    left = {record.uid: record for record in store.table(CONFIG_MAP).records.values()}
    for record in left.values():
        if record.deletion is None:
            assert all(left[o.uid].namespace == record.namespace for o in record.shared.owners)
        assert sorted(o.uid for o in record.shared.owners if record in store.garbage.dependents(o.uid)) == sorted(
            o.uid for o in record.shared.owners
        )


def _expect(alive: dict[int, set[int]], number: int, propagation: Propagation) -> None:
    """What is left: whoever loses the last owner goes, too."""
    del alive[number]
    for other, owners in list(alive.items()):
        if number in owners and other in alive:
            owners.discard(number)
            if not owners and propagation != "Orphan":
                _expect(alive, other, "Background")

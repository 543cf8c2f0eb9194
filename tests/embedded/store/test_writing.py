"""Creating and updating: who may write over whom, what stays, and what a write counts."""

import re

import msgspec
import pytest
from msgspec.structs import replace

from baseload.embedded.store import parse, record
from baseload.embedded.store.errors import AlreadyExists, BadRequest, Conflict, Invalid, NotFound
from baseload.embedded.store.record import Json, Record
from tests.embedded.clock import Standing
from tests.embedded.store import kinds
from tests.embedded.store.kinds import CONFIG_MAP, NODE, NODE_POOL, POD, REPLICA_SET, draft


def metadata(of: Record) -> dict[str, Json]:
    tree: dict[str, Json] = msgspec.json.decode(record.encode(of))["metadata"]
    return tree


def test_a_created_object_gets_uid_version_generation_and_time() -> None:
    store = kinds.fresh()

    created = metadata(store.create(draft(REPLICA_SET, "web", spec={"replicas": 1}, metadata={"uid": "mine"})))

    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", str(created["uid"]))
    assert created["resourceVersion"] == str(store.version)
    assert created["generation"] == 1
    assert created["creationTimestamp"] == "2026-11-30T12:00:00Z"


def test_versions_rise_by_every_write_of_every_kind() -> None:
    store = kinds.fresh()

    versions = [store.create(made).version for made in (kinds.pod("a"), kinds.config_map("a"), draft(NODE, "a"))]

    assert versions == sorted(set(versions))
    assert store.get(POD, "default", "a").version == versions[0]


def test_a_name_is_taken_within_its_kind_and_namespace_alone() -> None:
    store = kinds.fresh()
    store.create(kinds.namespace("other"))
    store.create(kinds.pod("a"))
    store.create(kinds.pod("a", "other"))
    store.create(kinds.config_map("a"))

    with pytest.raises(AlreadyExists, match=r'^pods "a" already exists$'):
        store.create(kinds.pod("a"))


def test_an_object_that_still_ends_has_its_name() -> None:
    store = kinds.fresh()
    store.create(kinds.pod("a", finalizers=["a.io/b"]))
    store.delete(POD, "default", "a")

    with pytest.raises(AlreadyExists, match=r'^object is being deleted: pods "a" already exists$'):
        store.create(kinds.pod("a"))


def test_generated_names_begin_with_their_prefix_and_differ() -> None:
    store = kinds.fresh()

    names = [store.create(kinds.pod("", generateName="web-")).name for _ in range(50)]

    assert len(set(names)) == 50
    assert all(re.fullmatch("web-[bcdfghjklmnpqrstvwxz2456789]{5}", name) for name in names)
    long = store.create(kinds.pod("", generateName="x" * 70)).name
    assert len(long) == 63


class Stuck:
    """Chance that always draws the same."""

    def getrandbits(self, k: int, /) -> int:
        return 5


def test_generated_names_that_are_taken_are_drawn_again_and_given_up_in_the_end() -> None:
    store = kinds.Store(Standing(), Stuck())
    store.serve(POD)
    store.create(kinds.pod("", generateName="web-"))

    with pytest.raises(AlreadyExists, match=r'^pods "web-hbbbb" already exists$'):
        store.create(kinds.pod("", generateName="web-"))


@pytest.mark.parametrize(
    ("made", "error", "words"),
    [
        (kinds.pod(""), Invalid, 'Pod "" is invalid: metadata.name: Required value: name or generateName is required'),
        (kinds.pod("a/b"), Invalid, "may not contain"),
        (kinds.pod("a", ""), BadRequest, "an empty namespace may not be set during creation"),
        (kinds.pod("a", resourceVersion="7"), BadRequest, "should not be set on objects to be created"),
    ],
)
def test_what_cannot_be_created_is_refused(made: Record, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=re.escape(words)):
        kinds.fresh().create(made)


def test_an_update_on_a_stale_version_is_a_conflict() -> None:
    store = kinds.fresh()
    first = store.create(kinds.config_map("a", value="1"))
    store.update(replace(first, body=kinds.config_map("a", value="2").body))

    with pytest.raises(
        Conflict, match=r'^Operation cannot be fulfilled on configmaps "a": the object has been modified'
    ):
        store.update(replace(first, body=kinds.config_map("a", value="3").body))

    assert store.get(CONFIG_MAP, "default", "a").body.field("data.value") == "2"


def test_an_update_without_a_version_wins_where_the_kind_allows_it() -> None:
    store = kinds.fresh()
    store.create(kinds.config_map("a", value="1"))
    store.create(draft(NODE_POOL, "a"))

    assert store.update(kinds.config_map("a", value="2")).body.field("data.value") == "2"
    with pytest.raises(Invalid, match=r"metadata\.resourceVersion: Invalid value: 0: must be specified for an update"):
        store.update(draft(NODE_POOL, "a", spec={"weight": 1}))


def test_an_update_of_another_object_of_that_name_is_a_conflict() -> None:
    store = kinds.fresh()
    first = store.create(kinds.config_map("a"))
    store.delete(CONFIG_MAP, "default", "a")
    second = store.create(kinds.config_map("a"))

    with pytest.raises(Conflict, match=f"UID in precondition: {first.uid}, UID in object meta: {second.uid}"):
        store.update(kinds.config_map("a", value="2", uid=first.uid))
    with pytest.raises(Conflict):
        store.change(CONFIG_MAP, "default", "a", lambda old: old.with_status(b"{}"), uid=first.uid)


def test_a_change_of_a_version_that_moved_on_is_a_conflict() -> None:
    store = kinds.fresh()
    first = store.create(kinds.pod("a"))
    store.change(POD, "default", "a", lambda old: old.bound("n"))

    with pytest.raises(Conflict):
        store.change(POD, "default", "a", lambda old: old.bound("m"), version=first.version)


def test_what_is_not_there_cannot_be_updated_changed_or_deleted() -> None:
    store = kinds.fresh()

    with pytest.raises(NotFound):
        store.update(kinds.pod("a"))
    with pytest.raises(NotFound):
        store.change(POD, "default", "a", lambda old: old)
    with pytest.raises(NotFound, match=r'^pods "a" not found$'):
        store.delete(POD, "default", "a")


def test_uid_and_creation_time_stay_although_an_update_leaves_them_out() -> None:
    store = kinds.fresh()
    created = store.create(kinds.config_map("a"))

    updated = store.update(kinds.config_map("a", value="2"))

    assert (updated.uid, updated.created) == (created.uid, created.created)
    with pytest.raises(Invalid, match=r"metadata\.creationTimestamp: .* field is immutable"):
        store.update(kinds.config_map("a", creationTimestamp="2020-01-01T00:00:00Z"))
    with pytest.raises(Invalid, match=r"metadata\.deletionTimestamp: .* field is immutable"):
        store.update(kinds.config_map("a", deletionTimestamp="2020-01-01T00:00:00Z"))


def test_the_generation_counts_changes_of_the_spec_alone() -> None:
    store = kinds.fresh()
    store.create(draft(REPLICA_SET, "web", spec={"replicas": 1}))

    def generation(changed: Record, part: kinds.Part = "main") -> int:
        return store.update(changed, part).generation

    assert generation(draft(REPLICA_SET, "web", spec={"replicas": 1}, metadata={"labels": {"a": "b"}})) == 1
    assert generation(draft(REPLICA_SET, "web", status={"replicas": 1}), "status") == 1
    assert generation(draft(REPLICA_SET, "web", spec={"replicas": 2})) == 2
    assert store.create(kinds.config_map("a")).generation == 0
    assert store.update(kinds.config_map("a", value="2")).generation == 0


def test_an_update_keeps_the_status_and_an_update_of_the_status_keeps_all_else() -> None:
    store = kinds.fresh()
    store.create(draft(REPLICA_SET, "web", spec={"replicas": 1}, status={"replicas": 1}))

    store.update(draft(REPLICA_SET, "web", spec={"replicas": 2}, status={"replicas": 9}))
    updated = store.update(draft(REPLICA_SET, "web", spec={"replicas": 7}, status={"replicas": 2}), "status")

    tree = msgspec.json.decode(record.encode(updated))
    assert (tree["spec"], tree["status"]) == ({"replicas": 2}, {"replicas": 2})


def test_a_kind_without_a_status_subresource_is_replaced_whole() -> None:
    store = kinds.fresh()
    store.create(draft(CONFIG_MAP, "a", status={"x": 1}))

    assert store.update(draft(CONFIG_MAP, "a", status={"x": 2})).status == b'{"x":2}'


def test_an_update_that_changes_nothing_is_no_write() -> None:
    store = kinds.fresh()
    text = b'{"metadata":{"name":"a","namespace":"default"},"spec":{"a":1,"b":2},"status":{"c":3,"d":4}}'
    other = b'{"metadata":{"name":"a","namespace":"default"},"spec":{"b":2,"a":1},"status":{"d":4,"c":3}}'
    created = store.create(parse.parse(REPLICA_SET, text))

    assert store.update(parse.parse(REPLICA_SET, other)) is created
    assert store.update(parse.parse(REPLICA_SET, other), "status") is created
    assert store.version == created.version


def test_a_number_is_not_a_truth() -> None:
    store = kinds.fresh()
    store.create(draft(REPLICA_SET, "a", spec={"x": 1}, status={"y": 0}))

    assert store.update(draft(REPLICA_SET, "a", spec={"x": True})).generation == 2
    assert store.update(draft(REPLICA_SET, "a", status={"y": False}), "status").status == b'{"y":false}'


def test_a_binding_changes_spec_and_status_in_one_write() -> None:
    store = kinds.fresh()
    before = store.create(kinds.pod("a")).version

    bound = store.change(POD, "default", "a", lambda old: old.bound("n").with_status(b'{"conditions":[]}'), "all")

    assert (bound.node, bound.status, bound.version) == ("n", b'{"conditions":[]}', before + 1)


def test_a_dry_run_refuses_and_answers_as_a_real_one_and_leaves_nothing() -> None:
    store = kinds.fresh()
    store.create(kinds.config_map("a", value="1"))
    before = store.version

    assert store.create(kinds.config_map("b"), dry_run=True).uid
    assert store.update(kinds.config_map("a", value="2"), dry_run=True).body.field("data.value") == "2"
    assert store.delete(CONFIG_MAP, "default", "a", dry_run=True).is_gone
    with pytest.raises(AlreadyExists):
        store.create(kinds.config_map("a"), dry_run=True)

    assert store.version == before
    assert store.get(CONFIG_MAP, "default", "a").body.field("data.value") == "1"
    assert store.find(CONFIG_MAP, "default", "b") is None


def test_a_withdrawn_kind_takes_its_objects_along() -> None:
    store = kinds.empty()
    store.create(draft(NODE_POOL, "a"))
    watch = store.watch(NODE_POOL, version=store.version)

    store.withdraw(NODE_POOL)
    store.serve(NODE_POOL)

    assert [event.type for event in watch.read()] == ["DELETED"]
    assert store.find(NODE_POOL, "", "a") is None

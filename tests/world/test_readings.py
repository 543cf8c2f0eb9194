"""Controllers in this process get objects without their JSON, and read in them what their JSON says."""

from baseload.control.observed import KINDS
from baseload.embedded.events import event
from baseload.embedded.store.log import Event
from baseload.embedded.store.record import encode
from baseload.kube.client import objects
from tests.world.lives import Life, deployment, node_class, pool, within


def test_an_object_of_this_process_reads_as_its_json_does() -> None:
    life = Life()
    life.create(node_class())
    life.create(pool(within("node.kubernetes.io/instance-type", "m5.large"), limits={"cpu": "4"}))
    life.create(deployment("web", 8))
    life.run(120)
    seen = 0
    for kind in KINDS:
        resource = life.living.cluster.store.resource_of(kind.group, kind.name)
        assert resource is not None
        assert kind.reading is not None
        for record in life.living.cluster.store.table(resource).records.values():
            told = event(Event("ADDED", record.version, record, None)).object
            assert told.read(kind.reading) == objects.read(encode(record)).read(kind.reading)
            seen += 1
    pods = life.all("", "Pod")
    assert {bool(pod["spec"].get("nodeName")) for pod in pods} == {True, False}
    assert seen > len(pods)
    life.close()


def test_pods_of_one_template_share_their_spec_until_they_are_bound() -> None:
    life = Life()
    life.create(deployment("web", 2))
    life.run(5)
    pods = life.user.records("", "Pod").values()
    reading = next(kind.reading for kind in KINDS if kind.name == "Pod")
    assert reading is not None
    first, second = (event(Event("ADDED", it.version, it, None)).object.read(reading) for it in pods)
    assert first.spec is second.spec  # type: ignore[attr-defined]
    life.close()

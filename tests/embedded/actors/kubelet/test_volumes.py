"""Kubelets start a pod when its volumes are there, and tell what they cannot make out."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from baseload.embedded.actors.kubelet.machines import Machine
from baseload.embedded.actors.storage.disks import DiskError
from baseload.embedded.actors.storage.storage import Storage
from baseload.values.clock import Clock
from tests.embedded.actors.running import Floor, asking, machine

MOUNTED = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
_FLOORS: list[Floor] = []


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    """Whatever runs ends with its test."""
    yield
    while _FLOORS:
        _FLOORS.pop().stage.clock.close()


@dataclass(slots=True)
class Slow:
    """Disks that take their time to be attached, or are refused until so many seconds have passed."""

    clock: Clock
    takes: float = 7.0
    refused: int = 0

    async def create(self, name: str, zone: str, size: int) -> str:
        return f"vol-{name}"

    async def delete(self, handle: str) -> None: ...

    async def attach(self, handle: str, machine: str) -> None:
        if self.refused:
            self.refused -= 1
            raise DiskError("rate exceeded")
        await self.clock.sleep(self.takes)

    async def detach(self, handle: str, machine: str) -> None: ...

    def most(self, instance_type: str) -> int | None:
        return None


def floor(*names: str, driver: str = "ebs.csi.aws.com", refused: int = 0, **claim: Any) -> Floor:
    """Nodes, and who attaches volumes to them in seven seconds."""
    zoned = {"topology.kubernetes.io/zone": "a"}
    machines: list[Machine] = [
        machine(name, labels=zoned, provider_id=f"aws:///a/i-{name}") for name in names or ["n1"]
    ]
    made = Floor(*machines, awaits_volumes=True)
    _FLOORS.append(made)
    stage = made.stage
    stage.clock.start(Storage(stage.cluster, stage.clock, Slow(stage.clock, refused=refused)).run())
    stage.create(
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": "gp3"},
            "provisioner": driver,
            "volumeBindingMode": "Immediate",
        }
    )
    made.run(1)
    return made


def claimed(made: Floor, **over: Any) -> None:
    spec = {
        "storageClassName": "gp3",
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        **over,
    }
    made.stage.create({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"}, "spec": spec})
    made.run(0.5)


def phase(made: Floor, name: str) -> str:
    return str(made.status(name)["phase"])


def test_a_pod_starts_when_its_volume_is_attached_and_not_before() -> None:
    made = floor()
    claimed(made)
    made.place("db", volumes=MOUNTED, **asking())
    made.place("plain", **asking())
    made.run(6.5)
    assert (phase(made, "db"), phase(made, "plain")) == ("Pending", "Running")
    assert made.container("db")["state"] == {"waiting": {"reason": "ContainerCreating"}}
    made.run(3)
    assert phase(made, "db") == "Running"
    told = [reason for reason, _, _ in made.events("db")]
    assert told == ["SuccessfulAttachVolume", "Pulled", "Created", "Started"], "that it waits the kubelet tells nobody"


def test_what_the_cloud_refuses_to_attach_is_told_by_who_attaches() -> None:
    made = floor(refused=2)
    claimed(made)
    made.place("db", volumes=MOUNTED, **asking())
    made.run(30)
    assert phase(made, "db") == "Running"
    [(message, count)] = [it[1:] for it in made.events("db") if it[0] == "FailedAttachVolume"]
    assert (message[:39], message[-15:], count) == (
        'AttachVolume.Attach failed for volume "',
        ": rate exceeded",
        2,
    )


def test_a_pod_on_another_node_waits_until_the_first_has_let_go_of_the_volume() -> None:
    made = floor("n1", "n2")
    claimed(made)
    made.place("one", "n1", volumes=MOUNTED, **asking())
    made.run(15)
    made.place("two", "n2", volumes=MOUNTED, **asking())
    made.run(300)
    assert (phase(made, "one"), phase(made, "two")) == ("Running", "Pending")
    [(_, message, _)] = made.events("two")
    assert message.startswith("Multi-Attach error for volume ")
    made.delete("one")
    made.run(45)
    assert phase(made, "two") == "Running"


def test_a_claim_that_is_not_bound_is_told_every_ten_seconds_until_it_is() -> None:
    made = floor()
    claimed(made, storageClassName="none")
    made.place("db", volumes=MOUNTED, **asking())
    made.run(25)
    assert made.events("db") == [
        (
            "FailedMount",
            "Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process "
            "volumes=[data]: error processing PVC default/data: PVC is not bound",
            3,
        )
    ]
    assert phase(made, "db") == "Pending"


def test_a_claim_that_is_not_there_is_told_and_the_pod_starts_when_it_has_come() -> None:
    made = floor()
    made.place("db", volumes=MOUNTED, **asking())
    made.run(4)
    [(reason, message, count)] = made.events("db")
    assert (reason, count) == ("FailedMount", 1)
    assert message.endswith(
        "error processing PVC default/data: failed to fetch PVC from API server: "
        'persistentvolumeclaims "data" not found'
    )
    claimed(made)
    made.run(15)
    assert phase(made, "db") == "Running"


def test_a_file_system_is_mounted_without_being_attached() -> None:
    made = floor(driver="efs.csi.aws.com")
    claimed(made)
    made.place("db", volumes=MOUNTED, **asking())
    made.run(3)
    assert phase(made, "db") == "Running"


def test_a_pod_that_waits_for_its_volume_can_be_deleted() -> None:
    made = floor()
    made.place("db", volumes=MOUNTED, **asking())
    made.run(4)
    made.delete("db")
    made.run(4)
    assert made.held("db") is None
    assert made.kubelets.waiting == {}


def test_a_volume_of_a_pods_own_is_claimed_for_it_waited_for_and_goes_with_it() -> None:
    made = floor()
    asked = {"storageClassName": "gp3", "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    template = {"metadata": {"labels": {"of": "db"}}, "spec": asked}
    made.place("db", volumes=[{"name": "own", "ephemeral": {"volumeClaimTemplate": template}}], **asking())
    made.run(6)
    claim = made.stage.tree("", "PersistentVolumeClaim", "db-own")
    assert (claim["metadata"]["labels"], claim["status"]["phase"]) == ({"of": "db"}, "Bound")
    assert phase(made, "db") == "Pending"
    made.run(6)
    assert phase(made, "db") == "Running"
    made.delete("db")
    made.run(45)
    held = made.stage.user.records("", "PersistentVolumeClaim")
    assert [record.finalizers for record in held.values()] in ([], [("kubernetes.io/pvc-protection",)])
    assert all(record.deletion is not None for record in held.values())


def test_pods_start_at_once_where_nobody_attaches_volumes() -> None:
    made = Floor()
    _FLOORS.append(made)
    made.place("db", volumes=MOUNTED, **asking())
    made.run(3)
    assert phase(made, "db") == "Running"

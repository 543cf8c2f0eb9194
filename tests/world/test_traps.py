"""Traps of the field, run on a whole cluster, with their right outcomes."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from baseload.cloud.simulated import settings_file
from baseload.embedded.actors import pods
from baseload.values.instant import SECOND
from baseload.world.living import LifeSettings
from tests.world.lives import Life, Tree, deployment, node_class, pool, within

ZONES = ("us-east-1a", "us-east-1b", "us-east-1c")


@pytest.fixture
def lives() -> Iterator[list[Life]]:
    made: list[Life] = []
    yield made
    for life in made:
        life.close()


def begun(lives: list[Life], **cloud: Any) -> Life:
    life = Life(LifeSettings(cloud=settings_file.read(cloud, zones=ZONES)))
    lives.append(life)
    life.create(node_class())
    return life


def job(name: str, cpu: str = "200m") -> Tree:
    asked = {"requests": {"cpu": cpu, "memory": "100Mi"}}
    container = {"name": "main", "image": "batch:1", "resources": asked}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {"template": template}}


def claims(life: Life) -> list[str]:
    return [it["metadata"]["name"] for it in life.all("karpenter.sh", "NodeClaim")]


def placed(life: Life) -> int:
    return sum(bool(it["spec"].get("nodeName")) for it in life.all("", "Pod"))


class TestPodsThatAreOnTheirWayToANode:
    """Trap 29: what is promised to a claim that comes is not planned for again, until the claim is given up."""

    def test_three_jobs_get_one_claim_while_its_node_takes_two_minutes_to_register(self, lives: list[Life]) -> None:
        life = begun(lives, boot={"registers": "120s"})
        life.create(pool())
        for number in range(3):
            life.create(job(f"job-{number}"))
        seen: Counter[str] = Counter()
        for _ in range(60):
            life.run(5)
            seen.update(claims(life))
        assert len(seen) == 1
        assert placed(life) == 3

    def test_jobs_that_come_later_join_the_node_that_is_on_its_way(self, lives: list[Life]) -> None:
        life = begun(lives, boot={"registers": "120s"})
        life.create(pool(within("node.kubernetes.io/instance-type", "m5.xlarge")))
        for number in range(3):
            life.create(job(f"job-{number}"))
            life.run(30)
            assert len(claims(life)) == 1
        life.run(210)
        assert (len(claims(life)), placed(life)) == (1, 3)

    def test_a_claim_with_startup_taints_that_stay_long_is_waited_for(self, lives: list[Life]) -> None:
        taint = {"key": "node.cilium.io/agent-not-ready", "effect": "NoSchedule"}
        life = begun(lives)
        life.create(pool(startupTaints=[taint]))
        for number in range(3):
            life.create(job(f"job-{number}"))
        life.run(600)
        assert (len(claims(life)), placed(life)) == (1, 0)

    def test_the_pods_of_a_claim_that_is_deleted_are_planned_for_at_once(self, lives: list[Life]) -> None:
        life = begun(lives, boot={"registers": "120s"})
        life.create(pool())
        life.create(job("job"))
        life.run(30)
        [first] = claims(life)
        life.user.delete(life.user.records("karpenter.sh", "NodeClaim")[first])
        life.run(30)
        assert [it for it in claims(life) if it != first] != []

    def test_the_pods_of_a_claim_that_never_registers_are_planned_for_after_its_time(self, lives: list[Life]) -> None:
        life = begun(lives, failures=[{"kind": "NeverRegisters", "percent": 100}])
        life.create(pool())
        life.create(job("job"))
        life.run(15 * 60 - 10)
        [first] = claims(life)
        life.run(60)
        assert [it for it in claims(life) if it != first] != []

    def test_two_pods_that_do_not_fit_on_one_node_get_two(self, lives: list[Life]) -> None:
        life = begun(lives, boot={"registers": "120s"})
        life.create(pool(within("node.kubernetes.io/instance-type", "m5.xlarge")))
        life.create(job("one", "3"))
        life.create(job("two", "3"))
        life.run(300)
        assert (len(claims(life)), placed(life)) == (2, 2)


class TestALossOfManySpotNodes:
    """Trap 43: thousands of pods lose their nodes; the first launches come within 10 s, no pod waits for all others."""

    DEPLOYMENTS = 20

    @pytest.mark.parametrize(("count", "cpus"), [(160, 9), pytest.param(2_089, 65, marks=pytest.mark.long)])
    def test_the_first_new_nodes_are_launched_within_ten_seconds_and_all_pods_run_again(
        self, lives: list[Life], count: int, cpus: int
    ) -> None:
        life = begun(lives)
        for zone in ZONES[:2]:
            size = {"key": "karpenter.k8s.aws/instance-cpu", "operator": "Lt", "values": [str(cpus)]}
            spot = within("karpenter.sh/capacity-type", "spot")
            tree = pool(within("topology.kubernetes.io/zone", zone), spot, size)
            tree["metadata"]["name"] = zone
            tree["spec"]["template"]["metadata"] = {"labels": {"team": zone}}
            life.create(tree)
        for number in range(self.DEPLOYMENTS):
            life.create(self.workload(number, count))
        until_ready(life, count, 240)
        region = life.living.cloud.region
        lost = {it.instance.id for it in region.inventory if it.is_living}
        assert len(lost) >= 20

        for id in sorted(lost):
            region.terminate(id)
        moment = life.clock.now()
        while all(it.instance.id in lost for it in region.inventory):
            life.run(1)
            assert (life.clock.now() - moment) / SECOND <= 15
        launched = min(it.instance.launched for it in region.inventory if it.instance.id not in lost)
        assert (launched - moment) / SECOND <= 10 + 1.5  # and as long as a launch takes
        until_ready(life, count, 300)

    def workload(self, number: int, count: int) -> Tree:
        replicas = count // self.DEPLOYMENTS + (number < count % self.DEPLOYMENTS)
        spread = [
            {
                "topologyKey": key,
                "maxSkew": 1,
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": {"app": f"app-{number}"}},
            }
            for key in ("kubernetes.io/hostname", "topology.kubernetes.io/zone")
        ]
        cpu = ("250m", "500m", "1", "2")[number % 4]
        where = {"nodeSelector": {"team": ZONES[number % 2]}}
        return deployment(f"app-{number}", replicas, cpu, topologySpreadConstraints=spread, **where)


def until_ready(life: Life, count: int, seconds: int) -> None:
    """Until so many pods are Ready on nodes that are there, and nobody is about to go."""
    for _ in range(seconds // 5):
        life.run(5)
        there = life.user.records("", "Node")
        held = [it for it in life.user.records("", "Pod").values() if it.deletion is None]
        if sum(pods.is_ready(it) and it.node in there for it in held) == count:
            return
    raise AssertionError(f"not all pods run within {seconds} s")

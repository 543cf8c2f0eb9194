"""A recount tells what pods ask of nodes, whatever anybody keeps of that."""

from baseload.decide.schedule.cluster import Cluster
from baseload.embedded.actors.recount import Over, Recount, Sums, differing, recount
from tests.embedded.actors.acting import Stage, node, pod


def asking(name: str, cpu: str, memory: str) -> dict[str, object]:
    requests = {"cpu": cpu, "memory": memory}
    return pod(name, containers=[{"name": "main", "image": "nginx:1", "resources": {"requests": requests}}])


def counted(stage: Stage) -> Recount:
    return recount(stage.user.records("", "Node").values(), stage.user.records("", "Pod").values())


def test_pods_count_on_their_nodes_until_they_have_ended() -> None:
    stage = Stage()
    for name in ("n1", "n2"):
        stage.create(node(name, cpu="1", memory="1Gi", pods="2"))
    for at in range(3):
        stage.user.bind(stage.create(asking(f"p{at}", "400m", "100Mi")), "n1")
    stage.user.merge(
        stage.user.bind(stage.create(asking("over", "9", "1Gi")), "n2"), {"status": {"phase": "Failed"}}, "status"
    )
    stage.create(asking("waits", "1", "1Gi"))
    found = counted(stage)
    assert found.sums == {"n1": Sums(3, {"cpu": 1200, "memory": 300 << 20}), "n2": Sums()}
    assert found.over == (Over("n1", "cpu", 1200, 1000), Over("n1", "pods", 3, 2))
    assert found.homeless == ()


def test_pods_of_a_node_that_is_gone_are_named() -> None:
    stage = Stage()
    made = stage.create(node("n1"))
    stage.user.bind(stage.create(asking("p", "1", "1Gi")), "n1")
    stage.user.delete(made)
    assert counted(stage) == Recount({}, (), ("default/p",))


def test_a_scheduler_that_knows_nothing_of_a_node_differs() -> None:
    stage = Stage()
    stage.create(node("n1"))
    assert differing(counted(stage), Cluster()) == ("n1",)

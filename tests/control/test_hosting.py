"""Controllers that live in a pod of the cluster do nothing while it is not Ready."""

from baseload.control.hosting import Host, Process
from baseload.control.karpenter import Karpenter
from baseload.control.settings import Settings
from tests.control.stage import Stage, node_class, pod, pool

READY = {"type": "Ready", "status": "True"}


def test_controllers_run_while_their_pod_is_ready_and_begin_anew_when_it_is_again() -> None:
    stage = Stage()
    stage.create(node_class())
    stage.create(pool())

    def make() -> Karpenter:
        return Karpenter(stage.client("karpenter"), stage.cloud, Settings())

    hosted = Process(stage.clock, lambda: make().run())
    stage.begin(Host(stage.client("host"), "default", "app=karpenter", hosted).run(), "host")
    stage.begin(hosted.run(), "karpenter")
    stage.replicas = 1
    stage.run(60)
    assert (hosted.starts, stage.all("NodeClaim")) == (0, [])

    stage.create(pod("karpenter", 0, labels={"app": "karpenter"}, nodeName="fixed"))
    stage.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "fixed"}})
    ready = {"status": {"phase": "Running", "conditions": [READY]}}
    stage.patch("Pod", "karpenter", ready, "status", "default")
    stage.run(60)
    assert (hosted.starts, hosted.is_up) == (1, True)
    assert len(stage.all("NodeClaim")) == 1

    stage.patch("Pod", "karpenter", {"status": {"conditions": [{**READY, "status": "False"}]}}, "status", "default")
    [claim] = stage.all("NodeClaim")
    stage.delete("NodeClaim", claim["metadata"]["name"])
    stage.run(300)
    assert not hosted.is_up
    assert len(stage.all("NodeClaim")) == len(stage.living()) == 1

    stage.patch("Pod", "karpenter", ready, "status", "default")
    stage.run(300)
    assert hosted.starts == 2
    assert claim["metadata"]["name"] not in [it["metadata"]["name"] for it in stage.all("NodeClaim")]
    stage.close()

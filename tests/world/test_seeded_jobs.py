"""Jobs among the manifests that a cluster begins with: new ones, and those of a dump with their pods."""

from typing import Any

import msgspec
import pytest
import yaml

from baseload.embedded.store.record import encode
from baseload.kube import manifests
from baseload.kube.sources import Source
from baseload.timeline.virtual import VirtualClock
from baseload.values.instant import SECOND
from baseload.world.living import LifeSettings, Living
from tests.replay.stories import node
from tests.world.lives import START, Tree


def job(**rest: Any) -> Tree:
    container = {"name": "main", "image": "batch:1", "resources": {"requests": {"cpu": "100m"}}}
    spec = {"parallelism": 2, "template": {"spec": {"restartPolicy": "Never", "containers": [container]}}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "first"}, "spec": spec, **rest}


def lived(*trees: Tree) -> dict[tuple[str, str], Tree]:
    """The objects of a cluster that began with these and lived for a minute, by kind and name."""
    text = yaml.safe_dump_all(trees).encode()
    clock = VirtualClock(START)
    living = Living(clock, LifeSettings(), manifests=manifests.of_texts([Source("dump", text)]))
    try:
        living.start(clock)
        clock.run(START + 60 * SECOND)
        store = living.cluster.store
        found: dict[tuple[str, str], Tree] = {}
        for group, kind in (("batch", "Job"), ("", "Pod")):
            resource = store.resource_of(group, kind)
            assert resource is not None
            for record in store.table(resource).records.values():
                found[kind, record.name] = msgspec.json.decode(encode(record))
        return found
    finally:
        clock.close()
        living.close()


@pytest.mark.parametrize("rest", [{}, {"status": {}}])
def test_a_job_of_a_manifest_gets_its_selector_and_runs(rest: Tree) -> None:
    there = lived(node("floor"), job(**rest))
    made = there["Job", "first"]
    uid = made["metadata"]["uid"]
    assert made["spec"]["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    assert made["spec"]["template"]["metadata"]["labels"]["batch.kubernetes.io/job-name"] == "first"
    assert made["status"]["active"] == 2
    assert sum(kind == "Pod" for kind, _ in there) == 2


def test_a_job_of_a_dump_knows_the_pods_that_it_had() -> None:
    there = lived(node("floor"), job())
    [one, other] = [tree for (kind, _), tree in there.items() if kind == "Pod"]

    again = lived(node("floor"), there["Job", "first"], one, other)

    assert sorted(name for kind, name in again if kind == "Pod") == sorted(
        it["metadata"]["name"] for it in (one, other)
    )
    assert again["Job", "first"]["status"]["active"] == 2
    assert again["Job", "first"]["metadata"]["uid"] == there["Job", "first"]["metadata"]["uid"]

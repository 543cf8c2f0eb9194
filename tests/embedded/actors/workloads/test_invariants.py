"""What holds whatever happens: counts, owners, bounds, and the same run twice."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator

from hypothesis import given, settings
from hypothesis import strategies as st

from baseload.embedded.actors.workloads import rollout
from baseload.embedded.actors.workloads.ownership import ACTIVE, OVER, READY, TERMINATING, controller_of, state
from baseload.embedded.actors.workloads.readings import DeploymentSpec
from baseload.embedded.store.record import Record, encode
from tests.embedded.actors.workloads.playing import Play, end, image, workload
from tests.embedded.actors.workloads.test_jobs import job

NAMES = ("web", "api")
Step = tuple[str, int, int]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["scale", "image", "delete", "kill", "label", "wait", "recreate", "pause"]),
        st.integers(0, 6),
        st.integers(0, 1),
    ),
    max_size=14,
)


def recount(play: Play) -> None:
    """The index of pods against the store."""
    by_owner: dict[str, list[Record]] = {}
    for pod in play.user.records("", "Pod").values():
        owner = controller_of(pod)
        if owner is not None:
            by_owner.setdefault(owner.uid, []).append(pod)
    for uid, owned in by_owner.items():
        tally = play.controllers.pods.of(uid)
        states = [state(pod) for pod in owned]
        assert set(tally.pods) == {pod.key for pod in owned}
        assert tally.active == sum(bool(one & ACTIVE) for one in states)
        assert tally.ready == sum(bool(one & READY) for one in states)
        assert tally.terminating == sum(bool(one & TERMINATING) for one in states)
        assert tally.over == sum(bool(one & OVER) for one in states)
        assert sum(tally.alike.values()) == tally.active


def owners(play: Play) -> Iterator[Record]:
    for kind in ("Deployment", "ReplicaSet", "StatefulSet"):
        yield from play.user.records("apps", kind).values()


def do(play: Play, step: Step) -> None:
    what, number, which = step
    name, pods = NAMES[which], play.pods()
    match what:
        case "scale":
            play.scale("Deployment" if which else "StatefulSet", name, number)
        case "image":
            play.patch("apps", "Deployment" if which else "StatefulSet", name, image(f"nginx:{number}"))
        case "delete" if pods:
            play.user.delete(pods[number % len(pods)])
        case "kill" if pods:
            end(play.user, pods[number % len(pods)], number % 2)
        case "label" if loose := [pod for pod in pods if pod.shared.generate_name]:
            play.patch("", "Pod", loose[number % len(loose)].name, {"metadata": {"labels": {"app": "stray"}}})
        case "wait":
            play.run(number / 2)
        case "recreate":
            held = play.cluster.store.get(play.user.resource("apps", "Deployment"), "default", "api")
            play.user.delete(held)
            play.create(workload("Deployment", "api", number))
        case "pause":
            play.patch("apps", "Deployment", "api", {"spec": {"paused": bool(number % 2)}})


@settings(max_examples=25)
@given(STEPS)
def test_counts_agree_with_a_recount_and_no_pod_is_orphaned_or_doubled(steps: list[Step]) -> None:
    play = Play()
    play.create(workload("StatefulSet", "web", 3))
    play.create(workload("Deployment", "api", 3))
    for step in steps:
        do(play, step)
        play.run(0.3)
        recount(play)
    play.patch("apps", "Deployment", "api", {"spec": {"paused": False}})
    play.run(120)

    recount(play)
    alive = {held.uid: held for held in owners(play)}
    for pod in play.pods():
        owner = controller_of(pod)
        assert owner is None or owner.uid in alive
    for held in alive.values():
        wanted = play.tree("apps", held.resource.kind, held.name)
        assert wanted["status"].get("replicas", 0) == wanted["spec"]["replicas"]
        assert wanted["status"].get("readyReplicas", 0) == wanted["spec"]["replicas"]
        assert wanted["status"]["observedGeneration"] == held.generation


@settings(max_examples=25)
@given(
    st.integers(1, 8),
    st.one_of(st.integers(0, 3), st.just("25%")),
    st.one_of(st.integers(0, 3), st.just("25%")),
    st.lists(st.tuples(st.integers(1, 4), st.integers(0, 30)), min_size=1, max_size=5),
)
def test_a_rollout_never_has_too_many_pods_or_too_few_that_are_ready(
    replicas: int, surge: int | str, unavailable: int | str, changes: list[tuple[int, int]]
) -> None:
    if surge == unavailable == 0:
        surge = 1
    play = Play()
    strategy = {"rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}
    record = play.create(workload("Deployment", "web", replicas, strategy=strategy))
    limits = rollout.bounds(record.body.spec(DeploymentSpec))
    play.run(10)
    for number, tenths in changes:
        play.patch("apps", "Deployment", "web", image(f"nginx:{number}"))
        for _ in range(tenths):
            play.run(0.1)
            states = [state(pod) for pod in play.pods()]
            assert sum(bool(one & ACTIVE) for one in states) <= limits.most
            assert sum(bool(one & READY) for one in states) >= limits.least_available
    play.run(120)
    assert len(play.pods()) == replicas


def journal() -> str:
    """A run of everything, as one hash of all that was written."""
    play = Play()
    for tree in (workload("StatefulSet", "web", 3), workload("Deployment", "api", 5), workload("DaemonSet", "agent")):
        play.create(tree)
    play.create(job(completions=4, parallelism=2))
    for number in range(12):
        do(play, (("scale", "image", "delete", "kill")[number % 4], number % 6, number % 2))
        play.run(7.3)
    told = hashlib.sha256()
    for resource in sorted(play.cluster.store.resources, key=lambda one: one.qualified):
        for event in play.cluster.store.table(resource).log.events:
            told.update(f"{event.type} {event.version} ".encode() + encode(event.record))
    return told.hexdigest()


def told_elsewhere(seed: str, zone: str) -> str:
    """The hash of the same run in a fresh process."""
    code = "from tests.embedded.actors.workloads.test_invariants import journal; print(journal())"
    environment = {**os.environ, "PYTHONHASHSEED": seed, "TZ": zone, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_same_run_writes_the_same_bytes_whatever_the_hash_seed_and_the_time_zone() -> None:
    assert told_elsewhere("77", "Asia/Tokyo") == told_elsewhere("0", "UTC")

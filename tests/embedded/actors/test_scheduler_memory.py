"""What the scheduler remembers of pods in vain is to the byte what it would find out anew."""

from dataclasses import dataclass, field
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from baseload.embedded.actors.recount import Recount, differing, recount
from baseload.embedded.actors.scheduler.scheduler import Scheduler
from baseload.embedded.actors.scheduler.settings import Settings
from baseload.embedded.store.deletion import Options
from baseload.embedded.store.record import encode
from baseload.timeline.virtual import VirtualClock
from baseload.values import instant
from tests.decide.schedule.one_by_one import OneByOne
from tests.embedded.actors.acting import START, Stage
from tests.embedded.actors.test_scheduler import asking, join

NOW = Options(grace_seconds=0)
APPS = ("a", "b")
SELECTORS = {app: {"matchLabels": {"app": app}} for app in APPS}


class Step(VirtualClock):
    """A clock that never goes ahead without the heap."""

    async def sleep(self, seconds: float) -> None:
        await self.bell().wait(seconds)


@dataclass
class Run:
    """A scheduler, what it tried and when, and a user who makes and removes things."""

    remembers: bool
    stage: Stage = field(init=False)
    scheduler: Scheduler = field(init=False)
    tries: list[tuple[int, str, int]] = field(default_factory=list)
    number: int = 0

    def __post_init__(self) -> None:
        self.stage = Stage(VirtualClock(START) if self.remembers else Step(START))
        scheduler = self.scheduler = Scheduler(self.stage.cluster, self.stage.clock, Settings(remembers=self.remembers))
        if not self.remembers:
            scheduler.model.queue = OneByOne()  # type: ignore[misc]
        queue, clock = scheduler.model.queue, self.stage.clock
        pop = queue.pop

        def noted(now: int) -> Any:
            entry = pop(now)
            if entry is not None:
                self.tries.append((clock.now(), entry.pod.name, entry.attempts))
            return entry

        queue.pop = noted  # type: ignore[method-assign]
        clock.start(scheduler.run(), name="scheduler", priority=1)
        for name, value in (("high", 9), ("low", -9)):
            kind = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": value}
            self.stage.create({**kind, "metadata": {"name": name}})

    def do(self, what: str, number: int) -> None:
        stage = self.stage
        match what:
            case "node":
                self.number += 1
                taints = ({"key": "t", "effect": "NoSchedule"},) if number == 3 else ()
                join(stage, f"n{self.number}", f"z{number % 2}", taints, cpu=str(1 + number % 3))
            case "pod":
                self.number += 1
                tree = asking(f"p{self.number}", ("300m", "1", "2", "5")[number % 4], **spec(number))
                tree["metadata"]["labels"] = {"app": APPS[number % 2]}
                stage.create(tree)
            case "delete" | "drain":
                kind = "Pod" if what == "delete" else "Node"
                held = list(stage.user.records("", kind).values())
                if held:
                    stage.user.delete(held[number % len(held)], NOW)
            case "mark":
                held = [one for one in stage.user.records("", "Pod").values() if one.node]
                if held:
                    stage.user.delete(held[number % len(held)])
            case "cordon":
                held = list(stage.user.records("", "Node").values())
                if held:
                    stage.user.merge(held[number % len(held)], {"spec": {"unschedulable": number % 2 == 0}})

    def counted(self) -> Recount:
        """What is asked of the nodes by the store's own account."""
        user = self.stage.user
        return recount(user.records("", "Node").values(), user.records("", "Pod").values())

    def told(self) -> list[bytes]:
        """All that others see in the end."""
        kinds = ("Pod", "Event", "Node")
        return [encode(held) for kind in kinds for held in self.stage.user.records("", kind).values()]


def spec(number: int) -> dict[str, Any]:
    """Something of everything that may keep a pod off."""
    app = SELECTORS[APPS[number % 2]]
    term = {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "kubernetes.io/hostname"}]}
    term["requiredDuringSchedulingIgnoredDuringExecution"][0]["labelSelector"] = app  # type: ignore[assignment]
    match number // 4:
        case 1:
            return {"priorityClassName": "high"}
        case 2:
            return {"priorityClassName": "low"}
        case 3:
            return {"affinity": {"podAntiAffinity": term}}
        case 4:
            key = {"topologyKey": "topology.kubernetes.io/zone", "maxSkew": 1, "labelSelector": app}
            return {"topologySpreadConstraints": [{**key, "whenUnsatisfiable": "DoNotSchedule"}]}
        case 5:
            return {"tolerations": [{"operator": "Exists"}]}
        case 6:
            named = ("n1",) if number % 2 else ("n1", "n2")
            fields = [[{"key": "metadata.name", "operator": "In", "values": [name]}] for name in named]
            terms = {"nodeSelectorTerms": [{"matchFields": each} for each in fields]}
            return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}}
    return {}


STEPS = st.tuples(
    st.sampled_from(("pod", "pod", "pod", "pod", "node", "delete", "delete", "mark", "drain", "cordon")),
    st.integers(0, 27),
    st.sampled_from((0, 1, 5, 20, 20, 1_000, 1_000, 4_321, 31_000, 400_000, 2_000_000)),
)


@given(st.lists(STEPS, min_size=8, max_size=28))
def test_pods_are_tried_and_told_as_if_nothing_was_remembered(steps: list[tuple[str, int, int]]) -> None:
    runs = Run(remembers=True), Run(remembers=False)
    for run in runs:
        for at in range(2):
            run.do("node", at)
        for what, number, wait in steps:
            run.do(what, number)
            run.stage.clock.run(run.stage.clock.now() + wait * instant.SECOND // 1000)
        run.stage.clock.run(run.stage.clock.now() + 1200 * instant.SECOND)
        assert not differing(run.counted(), run.scheduler.model.cluster)
        assert not run.counted().over
    one, other = runs
    assert one.tries == other.tries
    assert one.told() == other.told()
    assert msgspec.json.encode(one.stage.cluster.store.version) == msgspec.json.encode(
        other.stage.cluster.store.version
    )

"""Lines of pods that are alike are but a way to keep them: all happens as if each stood by itself."""

from hypothesis import given
from hypothesis import strategies as st

from baseload.decide.schedule import hints, statuses
from baseload.decide.schedule.kinds import Pod
from baseload.decide.schedule.queue import Hint, Queue
from baseload.values import instant
from tests.decide.schedule.building import engine, pod, read
from tests.decide.schedule.one_by_one import OneByOne

MADE = engine([])
KINDS = [read(MADE, pod(f"k{at}", f"{at + 1}", priority=at // 2)) for at in range(4)]
REASONS = (
    frozenset[str](),
    frozenset({statuses.NODE_RESOURCES_FIT}),
    frozenset({statuses.TAINT_TOLERATION}),
    frozenset({statuses.NODE_RESOURCES_FIT, statuses.TAINT_TOLERATION}),
)
HINTS = (
    hints.pod_gone(KINDS[0]),
    Hint((statuses.TAINT_TOLERATION,), lambda entry: entry.pod.kind is KINDS[1].kind),
    Hint((statuses.NODE_RESOURCES_FIT,), lambda entry: entry.pod.kind.ask.cpu > 2000),
)
STEPS = st.one_of(
    st.tuples(st.just("add"), st.integers(0, 15)),
    st.tuples(st.just("remove"), st.integers(0, 15)),
    st.tuples(st.just("try"), st.integers(0, 3)),
    st.tuples(st.just("try"), st.integers(1, 1)),
    st.tuples(st.just("wake"), st.integers(0, 2)),
    st.tuples(st.just("wait"), st.sampled_from((10, 700, 1_000, 9_500, 31_000, 400_000))),
)


def fresh(number: int) -> Pod:
    kind = KINDS[number % 4]
    return read(MADE, pod(f"p{number}", f"{number % 4 + 1}", priority=kind.priority))


@given(st.lists(STEPS, min_size=5, max_size=120))
def test_pods_are_tried_in_the_order_and_at_the_times_at_which_each_alone_would_be(
    steps: list[tuple[str, int]],
) -> None:
    lines, literal = Queue(), OneByOne()
    now = 1_000_000 * instant.SECOND
    for what, number in steps:
        now += 10_000_000 + 1
        told: list[object] = []
        for queue in (lines, literal):
            match what:
                case "add":
                    queue.add(fresh(number), now, gated=number == 13)
                case "remove":
                    queue.remove(f"uid-p{number}")
                case "try":
                    entry = queue.pop(now)
                    if entry is not None:
                        told.append((entry.pod.name, entry.attempts, entry.rejections, entry.errors))
                        queue.reject(entry, REASONS[number], now)
                case "wake":
                    told.append(queue.wake(HINTS[number], now))
            told.append((queue.due(now), sorted(entry.pod.name for entry in queue.all())))
        assert told[: len(told) // 2] == told[len(told) // 2 :]
        if what == "wait":
            now += number * instant.SECOND // 1000

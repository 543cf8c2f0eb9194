"""Amounts that would do: the most that a request may be, the least that a limit must be, found by bisection."""

from collections.abc import Callable, Iterator
from typing import Final

from baseload.decide.explain.edits import Edit
from baseload.decide.explain.supply import Supply
from baseload.decide.fit.shape import FitPod
from baseload.plan.provision import Demand
from baseload.values import quantity
from baseload.values.quantity import MILLI, UNIT
from baseload.values.resource import counts_bytes

_GIB: Final = 1024**3 * UNIT
_MIB: Final = 1024**2 * UNIT
_MOST_NODES: Final = 2**10  # what takes more than so many further nodes is no question of the limit

Works = Callable[[Edit], bool]
"""whether a change gives the pods their place"""


def lowered(demand: Demand, pod: FitPod, supply: Supply, works: Works, *, share: int) -> Iterator[Edit]:
    """A request lowered to the most that some node has room for, but to no less than one part in `share` of it."""
    asked = quantity.parse(demand.values[0])
    beside = max(pod.requests.get(demand.key, 0) - asked, 0)
    step = grain(demand.key, asked)
    rooms = {(room - beside) // step * step for room in supply.room(demand.key)}
    fitting = sorted(room for room in rooms if 0 < room < asked and room * share >= asked)
    form = quantity.format_of(demand.values[0])
    edits = [Edit(demand.object, demand.path, quantity.format(amount, form)) for amount in fitting]
    low, high = -1, len(edits)  # the last that is known to do, the first that is known not to
    while high - low > 1:
        middle = (low + high) // 2
        if works(edits[middle]):
            low = middle
        else:
            high = middle
    if low >= 0:
        yield edits[low]


def raised(demand: Demand, works: Works, *, largest: int, pods: int) -> Iterator[Edit]:
    """A limit raised to the least that does; first by whole nodes of the `largest` type, as which each is charged.

    A node for each of the pods is tried first: it mostly does, and is what remains where no work is left to refine it.
    """
    step = _GIB if counts_bytes(demand.key) else UNIT
    form = "BinarySI" if counts_bytes(demand.key) else quantity.format_of(demand.values[0])
    least = quantity.parse(demand.values[0]) // step

    def edit(steps: int) -> Edit:
        return Edit(demand.object, demand.path, quantity.format((least + steps) * step, form))

    node = max(-(-largest // step), 1)
    low, nodes = 0, pods
    while not works(edit(nodes * node)):
        low, nodes = nodes, 2 * nodes
        if nodes > _MOST_NODES:
            return
    found = _least(lambda count: works(edit(count * node)), low, nodes)
    yield edit(_least(lambda steps: works(edit(steps)), (found - 1) * node, found * node))


def _least(works: Callable[[int], bool], low: int, high: int) -> int:
    """The least number that works, where `low` is known not to and `high` is known to."""
    while high - low > 1:
        middle = (low + high) // 2
        if works(middle):
            high = middle
        else:
            low = middle
    return high


def grain(resource: str, asked: int) -> int:
    """To what amounts are rounded down, so that they read well."""
    if resource == "cpu":
        return MILLI
    return _MIB if counts_bytes(resource) and asked >= _MIB else UNIT

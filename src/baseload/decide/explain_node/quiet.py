"""How long nodes have been let alone by their pods, when their windows end, and which shorter window would be over."""

from collections.abc import Iterator
from typing import Final

from baseload.decide.disrupt.situation import Situation
from baseload.decide.disrupt.windows import is_target_inside
from baseload.decide.explain.edits import Edit
from baseload.decide.lifecycle import conditions, markers
from baseload.decide.lifecycle.names import INITIALIZED
from baseload.kube.types.karpenter import NodeClaim, NodePool
from baseload.model.view import ref_of
from baseload.values import duration, instant

AFTER: Final = "spec.disruption.consolidateAfter"
_AFTERS: Final = ("24h", "12h", "6h", "1h", "30m", "15m", "10m", "5m", "1m", "30s")
"""windows that people write, the longest first"""
_MOST: Final = 5  # ends of windows that are waited for


def let_alone_for(claim: NodeClaim, now: int) -> int | None:
    """How long the pods of a claim's node have not changed; None where it is not initialised."""
    last = claim.status.last_pod_event_time
    since = instant.parse(last) if last else conditions.since(claim.status.conditions, INITIALIZED)
    return None if since is None else now - since


def shorter(pool: NodePool, elapsed: int) -> Edit:
    """The longest window that is over after so long."""
    after = next((text for text in _AFTERS if duration.parse(text) <= elapsed), "0s")
    return Edit(ref_of(pool), AFTER, after)


def shorter_for_targets(situation: Situation) -> Iterator[tuple[Edit, ...]]:
    """A shorter window for each pool that has nodes inside theirs, which take no moved pods meanwhile."""
    elapsed: dict[str, int] = {}
    for claim, pool in _inside(situation):
        alone = let_alone_for(claim, situation.now) or 0
        elapsed[pool.metadata.name] = max(alone, elapsed.get(pool.metadata.name, 0))
    yield from ((shorter(situation.pools[name], alone),) for name, alone in sorted(elapsed.items()))


def windows_end(situation: Situation) -> Iterator[int]:
    """When nodes are inside their windows no more, the first first."""
    ends = {markers.window_end(claim, pool) for claim, pool in _inside(situation)}
    yield from sorted(end for end in ends if end is not None)[:_MOST]


def _inside(situation: Situation) -> Iterator[tuple[NodeClaim, NodePool]]:
    pools = {pool.metadata.name: pool for pool in situation.setting.pools}
    for state in situation.view.state_nodes:
        if state.claim is not None and is_target_inside(state, pools, situation.now):
            yield state.claim, pools[state.pool]

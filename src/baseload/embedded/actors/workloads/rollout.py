"""How a Deployment goes from one template to another: which ReplicaSet is scaled to what, next.

A step sees the ReplicaSets as numbers. It first grows the new one as far as the surge allows; where it does not grow,
the old ones are cut: what is not available first, then as much as availability allows.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from baseload.embedded.actors.workloads.portions import portion
from baseload.embedded.actors.workloads.readings import DeploymentSpec, Strategy


@dataclass(frozen=True, slots=True)
class Revision:
    """A ReplicaSet as a rollout sees it."""

    name: str
    created: str
    spec: int  # replicas wanted
    actual: int = 0  # replicas there are
    ready: int = 0
    available: int = 0
    desired: int | None = None  # the Deployment's replicas when it was last scaled
    max_replicas: int | None = None  # and with the surge
    revision: int = 0
    is_observed: bool = True  # whether its status is about its present spec


Scaled = dict[str, int]
"""name of a ReplicaSet -> the replicas that it is to have"""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How many pods a rollout may have too many, and how many too few."""

    replicas: int
    surge: int
    unavailable: int

    @property
    def most(self) -> int:
        return self.replicas + self.surge

    @property
    def least_available(self) -> int:
        return self.replicas - self.unavailable


def bounds(spec: DeploymentSpec) -> Bounds:
    """The surge rounded up, the unavailable down; where both come to nothing, one pod may be missing."""
    return _bounds(spec.replicas, spec.strategy)


@lru_cache(maxsize=4096)  # most Deployments are of few sizes
def _bounds(replicas: int, strategy: Strategy) -> Bounds:
    update = strategy.rolling_update
    if strategy.type != "RollingUpdate" or update is None:
        return Bounds(replicas, 0, 0)
    surge = portion(update.max_surge, replicas, up=True)
    unavailable = portion(update.max_unavailable, replicas, up=False)
    if not surge and not unavailable:
        unavailable = 1
    return Bounds(replicas, surge, min(unavailable, replicas))


def grown(new: Revision, others: Iterable[Revision], limits: Bounds) -> int:
    """The replicas of the new ReplicaSet after a step."""
    if new.spec >= limits.replicas:
        return limits.replicas
    total = new.spec + sum(old.spec for old in others)
    if total >= limits.most:
        return new.spec
    return new.spec + min(limits.most - total, limits.replicas - new.spec)


def rolled(new: Revision, old: Sequence[Revision], limits: Bounds) -> Scaled:
    """One step of a rolling update; empty where there is nothing to do until something changes."""
    after = grown(new, old, limits)
    if after != new.spec:
        return {new.name: after}
    return _cut(new, [revision for revision in old if revision.spec], limits)


def _cut(new: Revision, old: Sequence[Revision], limits: Bounds) -> Scaled:
    total = new.spec + sum(revision.spec for revision in old)
    room = total - limits.least_available - (new.spec - new.available)
    if not old or room <= 0:
        return {}
    by_age = sorted(old, key=_age)
    scaled: Scaled = {}
    for revision in by_age:  # what is not available goes first
        unhealthy = min(room, revision.spec - revision.available)
        if unhealthy > 0:
            scaled[revision.name] = revision.spec - unhealthy
            room -= unhealthy
    spare = new.available + sum(revision.available for revision in old) - limits.least_available
    for revision in by_age:
        spec = scaled.get(revision.name, revision.spec)
        down = min(spec, spare)
        if down > 0:
            scaled[revision.name] = spec - down
            spare -= down
    return scaled


def resized(new: Revision | None, old: Sequence[Revision], spec: DeploymentSpec) -> Scaled:
    """Which ReplicaSet is scaled to what when the Deployment's replicas changed, or while it is paused."""
    active = [revision for revision in (*old, *([new] if new else [])) if revision.spec]
    if len(active) <= 1:
        only = active[0] if active else new or max(old, key=_age, default=None)
        return {only.name: spec.replicas} if only is not None and only.spec != spec.replicas else {}
    if new is not None and _is_saturated(new, spec):
        return {revision.name: 0 for revision in old if revision.spec}
    if spec.strategy.type != "RollingUpdate":
        return {}
    return _in_proportion(active, spec)


def _in_proportion(active: list[Revision], spec: DeploymentSpec) -> Scaled:
    allowed = bounds(spec).most if spec.replicas > 0 else 0
    missing = allowed - sum(revision.spec for revision in active)
    by_size = sorted(sorted(active, key=_age, reverse=missing > 0), key=lambda revision: -revision.spec)
    scaled, added = {}, 0
    for revision in by_size:
        share = _share(revision, spec, missing, added) if missing else 0
        scaled[revision.name] = revision.spec + share
        added += share
    largest = by_size[0].name
    scaled[largest] = max(0, scaled[largest] + missing - added)
    return scaled


def _share(revision: Revision, spec: DeploymentSpec, missing: int, added: int) -> int:
    """A ReplicaSet's part of what is to be added or taken, in proportion to its size."""
    if revision.spec == 0 or missing == added:
        return 0
    if spec.replicas == 0:
        share = -revision.spec
    else:
        before = revision.max_replicas or spec.replicas
        share = _rounded(revision.spec * bounds(spec).most, before) - revision.spec
    left = missing - added
    return min(share, left) if missing > 0 else max(share, left)


def _rounded(parts: int, whole: int) -> int:
    """parts / whole to the nearest, halves away from zero; both are not negative."""
    return (2 * parts + whole) // (2 * whole)


def _is_saturated(new: Revision, spec: DeploymentSpec) -> bool:
    """Whether the new ReplicaSet has all that is wanted, and all of it is available."""
    return new.spec == spec.replicas == new.desired and new.available == spec.replicas


def recreated(old: Iterable[Revision]) -> Scaled:
    """The first step of Recreate: all old ReplicaSets to nothing."""
    return {revision.name: 0 for revision in old if revision.spec}


def outdated(old: Sequence[Revision], limit: int) -> list[str]:
    """Which old ReplicaSets are too many to keep: those of the oldest revisions that have no replicas any more."""
    by_revision = sorted(old, key=lambda revision: (revision.revision, *_age(revision)))
    beyond = by_revision[: max(0, len(old) - limit)]
    return [revision.name for revision in beyond if not revision.spec and not revision.actual and revision.is_observed]


def is_resized(revisions: Iterable[Revision], spec: DeploymentSpec) -> bool:
    """Whether the Deployment's replicas changed since its ReplicaSets were scaled."""
    return any(revision.spec and revision.desired not in (None, spec.replicas) for revision in revisions)


def _age(revision: Revision) -> tuple[str, str]:
    return revision.created, revision.name

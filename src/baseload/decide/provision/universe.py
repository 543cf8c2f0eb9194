"""The topology domains that pools lend: what a node of theirs could be labelled with (provisioning spec 13.3).

A pool at its limits, or whose types no template can use, still lends its domains. Each domain carries the taints of the
pools that lend it. Built a key at a time, since few keys are ever asked for.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from baseload.decide.fit.template import PoolOffer
from baseload.values.requirement import Requirement, Requirements
from baseload.values.taint import Taint

Lent = Mapping[str, tuple[tuple[Taint, ...], ...]]


class LentDomains:
    """Callable as the engine's universe."""

    def __init__(self, offers: Iterable[tuple[Requirements, PoolOffer]]) -> None:
        self._offers: Final = tuple(offers)  # the pool's own requirements and template labels, and its offer
        self._lent: Final[dict[str, Lent]] = {}

    def __call__(self, key: str) -> Lent:
        lent = self._lent.get(key)
        if lent is None:
            found: dict[str, dict[tuple[Taint, ...], None]] = {}
            for own, offer in self._offers:
                for domain in _domains(key, own.get(key), offer):
                    found.setdefault(domain, {})[offer.taints] = None
            lent = self._lent[key] = {domain: tuple(found[domain]) for domain in sorted(found)}
        return lent


def _domains(key: str, own: Requirement | None, offer: PoolOffer) -> Iterator[str]:
    """Every value that the pool together with some type lists, and what the pool itself lists by In."""
    column = offer.types.table.labels.get(key)
    with_label = 0
    for held, types in column.groups if column else ():
        with_label |= types
        yield from (held if own is None else own.intersect(held)).values
    if own is not None and (not own.complement or offer.types.all & ~with_label):
        yield from own.values

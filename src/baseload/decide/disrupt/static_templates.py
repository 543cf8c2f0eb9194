"""What static pools launch: a NodeClaim straight from the template, with every type that its requirements leave."""

from collections.abc import Mapping
from typing import Final

from baseload.decide.disrupt.prices import Prices
from baseload.decide.fit.planned import Claim
from baseload.decide.fit.shape import HostClass
from baseload.decide.fit.template import Template
from baseload.decide.provision import pools
from baseload.decide.provision.daemons import daemons
from baseload.decide.provision.launch import Launches
from baseload.decide.provision.options import Options
from baseload.decide.provision.overlays import Overlaid
from baseload.decide.provision.setup import sets_for
from baseload.model.view import View


class StaticTemplates:
    """The templates of the static pools of a view."""

    def __init__(self, view: View, types: Mapping[str, Overlaid], options: Options) -> None:
        tables = {name: overlaid.types for name, overlaid in types.items()}
        sets = sets_for(tables)
        static = tuple(pool for pool in view.node_pools if pools.is_static(pool))
        strict = options.min_values_policy == "Strict"
        expected = daemons(view, ignore_dra=options.ignore_dra_requests)
        self._prices: Final = Prices(sets)
        self.launches: Final = Launches(sets, {pool.metadata.name: pool for pool in static}, strict=strict)
        self._templates: Final = {
            pool.metadata.name: Template(offer, expected, sets, best_effort=not strict)
            for pool, offer in pools.offers(static, tables, sets)
        }

    def claim(self, pool: str) -> Claim | None:
        """One node of a pool; None where its requirements leave no type."""
        template = self._templates.get(pool)
        if template is None or not template.mask:
            return None
        return Claim(0, template, HostClass(template.number, template.taints), template.mask)

    def price(self, claim: Claim) -> float:
        """What the cheapest type of a claim costs."""
        return self._prices.ladder(claim.template.types, claim.hosts.number).price(claim.types)

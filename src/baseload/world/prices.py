"""What machines cost, by what their nodes' labels say: the catalogue of each region that is met."""

from baseload.catalog.nodeclass import NodeClassSettings
from baseload.values.errors import BadInput
from baseload.world import catalogue
from baseload.world.region import region_of

_Price = tuple[float | None, bool]
_UNKNOWN: _Price = (None, False)


class Prices:
    """Prices of the catalogue; a region's are read when its first machine is met."""

    def __init__(self) -> None:
        self._regions: dict[str, dict[tuple[str, str, str], _Price]] = {}

    def __call__(self, *, region: str, zone: str, instance_type: str, capacity_type: str) -> _Price:
        """Dollars an hour and whether that is an estimate; None for a machine that the catalogue does not know."""
        name = region or region_of(zone) or ""
        if not name or not instance_type:
            return _UNKNOWN
        if name not in self._regions:
            self._regions[name] = _read(name)
        prices, kind = self._regions[name], capacity_type or "on-demand"
        found = prices.get((instance_type, zone, kind))
        return found or prices.get((instance_type, "", kind), _UNKNOWN)


def _read(region: str) -> dict[tuple[str, str, str], _Price]:
    """(type, zone, capacity type) -> price; "" as the zone stands for one that the catalogue does not know."""
    try:
        types = catalogue.open_ec2(region).catalogue.instance_types(region, settings=NodeClassSettings())
    except BadInput:  # a region that there is not
        return {}
    found: dict[tuple[str, str, str], _Price] = {}
    for column in types.offerings:
        for place, name in enumerate(types.names):
            price = column.prices[place]
            if column.types >> place & 1 and price is not None:
                one = price, bool(column.estimated >> place & 1)
                found[name, column.zone, column.capacity_type] = one
                found.setdefault((name, "", column.capacity_type), one)
    return found

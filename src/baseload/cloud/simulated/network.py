"""The subnets of the account and the addresses in them.

A subnet gives its addresses one after the other and begins again at its end, so that an address is not used again at
once. Each instance takes as many as the settings say, the first of which is its own.
"""

from collections.abc import Iterable, Mapping, Sequence

from baseload.cloud.port import Subnet
from baseload.cloud.simulated.settings import SubnetSettings

_FIRST = 10 << 24  # 10.0.0.0; each subnet begins at the next /19, or as many as it needs
_BLOCK = 1 << 13
_RESERVED = 4  # at the beginning of a subnet; one more at its end


class Network:
    """The subnets, by id."""

    def __init__(
        self, subnets: Sequence[SubnetSettings], zone_ids: Mapping[str, str], addresses_an_instance: int
    ) -> None:
        self._each = addresses_an_instance
        self._subnets: dict[str, _Subnet] = {}
        base = _FIRST
        for settings in subnets:
            self._subnets[settings.id] = _Subnet(settings, zone_ids.get(settings.zone, ""), base)
            base += -(-(settings.addresses + _RESERVED + 1) // _BLOCK) * _BLOCK

    def has_room(self, subnet: str) -> bool:
        return self._subnets[subnet].free >= self._each

    def take(self, subnet: str) -> str:
        """The address of one more instance."""
        return self._subnets[subnet].take(self._each)

    def give_back(self, subnet: str, address: str) -> None:
        if subnet in self._subnets:
            self._subnets[subnet].give_back(address, self._each)

    def kept(self) -> dict[str, int]:
        """Where each subnet goes on giving addresses."""
        return {id: subnet.next for id, subnet in self._subnets.items()}

    def put_back(self, kept: Mapping[str, int], taken: Iterable[tuple[str, str]]) -> None:
        """Goes on there, with the (subnet, address) of the instances that there are."""
        for id, place in kept.items():
            if id in self._subnets:
                self._subnets[id].next = place
        for id, address in taken:
            if id in self._subnets:
                self._subnets[id].occupy(address, self._each)

    def described(self) -> tuple[Subnet, ...]:
        """All, in the order of the settings."""
        return tuple(
            Subnet(id, it.settings.zone, it.zone_id, it.free, it.settings.tags) for id, it in self._subnets.items()
        )


class _Subnet:
    def __init__(self, settings: SubnetSettings, zone_id: str, base: int) -> None:
        self.settings, self.zone_id, self._base = settings, zone_id, base
        self.free = settings.addresses
        self.next = 0
        self._taken: set[int] = set()

    def take(self, count: int) -> str:
        while self.next in self._taken:
            self.next = (self.next + 1) % self.settings.addresses
        place = self.next
        self.next = (place + 1) % self.settings.addresses
        address = _text(self._base + _RESERVED + place)
        self.occupy(address, count)
        return address

    def occupy(self, address: str, count: int) -> None:
        self._taken.add(_number(address) - self._base - _RESERVED)
        self.free -= count

    def give_back(self, address: str, count: int) -> None:
        self._taken.discard(_number(address) - self._base - _RESERVED)
        self.free += count


def _text(number: int) -> str:
    return ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))


def _number(text: str) -> int:
    first, second, third, fourth = map(int, text.split("."))
    return first << 24 | second << 16 | third << 8 | fourth

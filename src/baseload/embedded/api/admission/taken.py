"""Which cluster addresses the services of a store have: kept up to date from the log of services, not counted anew."""

from ipaddress import AddressValueError, IPv4Address, IPv4Network
from typing import Final
from weakref import WeakKeyDictionary

import msgspec

from baseload.embedded.store.record import Record
from baseload.embedded.store.store import Store
from baseload.embedded.store.table import Table

_FIRST: Final = 1  # the address of the network is no host's, and neither is the last one


class _Held(msgspec.Struct, frozen=True):
    address: str = msgspec.field(name="clusterIP", default="")


class Addresses:
    """The addresses of one store's services within a network."""

    def __init__(self, network: IPv4Network) -> None:
        self.network = network
        self._base = int(network.network_address)
        self._table: Table | None = None
        self._version = 0  # of the last change that is known
        self._taken: dict[str, int] = {}  # address -> services that have it
        self._lowest = _FIRST  # below it none is free

    def look(self, table: Table) -> None:
        """Learns what happened since the last time; what is not shown to readers yet counts too."""
        log = table.log
        if table is not self._table or self._version < log.floor:
            self._table, self._taken, self._lowest = table, {}, _FIRST
            for record in table.records.values():
                self._put(record, 1)
        else:
            for event in log.after(self._version):
                if event.old is not None:
                    self._put(event.old, -1)
                if event.type != "DELETED":
                    self._put(event.record, 1)
        self._version = log.last

    def has(self, address: str) -> bool:
        """Whether a service has it."""
        return address in self._taken

    def free(self) -> str | None:
        """The lowest that no service has."""
        for number in range(self._lowest, self.network.num_addresses - 1):
            address = str(IPv4Address(self._base + number))
            if address not in self._taken:
                self._lowest = number
                return address
        return None

    def _put(self, service: Record, by: int) -> None:
        address = service.body.spec(_Held).address
        number = self._number(address)
        if number is None:
            return
        left = self._taken.get(address, 0) + by
        if left:
            self._taken[address] = left
        else:
            del self._taken[address]
            self._lowest = min(self._lowest, max(number, _FIRST))

    def _number(self, address: str) -> int | None:
        """Which of the network it is; None where it is none of it."""
        try:
            number = int(IPv4Address(address)) - self._base
        except AddressValueError:
            return None
        return number if 0 <= number < self.network.num_addresses else None


_known: "WeakKeyDictionary[Store, Addresses]" = WeakKeyDictionary()


def addresses(store: Store, table: Table, network: IPv4Network) -> Addresses:
    """Those of a store, as they are now."""
    known = _known.get(store)
    if known is None or known.network != network:
        known = _known[store] = Addresses(network)
    known.look(table)
    return known

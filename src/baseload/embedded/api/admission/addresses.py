"""The addresses of services: a cluster address, and ports on every node, each the lowest that is free.

A real server gives them at random. What a client asks for by number it gets, unless another service has it or it lies
outside of the range; that is said only after all else about the service was found to be right.
"""

from collections.abc import Iterator
from ipaddress import AddressValueError, IPv4Address, IPv4Network
from typing import Final, Never

import msgspec

from baseload.embedded.api.admission.review import Review
from baseload.embedded.api.admission.taken import Addresses, addresses
from baseload.embedded.api.admission.tree import Tree, fill, fill_empty, held, maps
from baseload.embedded.api.refusals import Failed
from baseload.embedded.store import errors
from baseload.embedded.store.errors import Cause
from baseload.embedded.store.record import Json, Record

RANGE: Final = IPv4Network("10.96.0.0/16")
NODE_PORTS: Final = range(30000, 32768)
_HEADLESS: Final = "None"
_TAKEN: Final = "provided port is already allocated"
_ON_NODES: Final = ("NodePort", "LoadBalancer")


class _Port(msgspec.Struct, frozen=True, rename="camel"):
    node_port: int = 0
    protocol: str = "TCP"


class _Held(msgspec.Struct, frozen=True, rename="camel"):
    """What a service has taken."""

    cluster_i_p: str = msgspec.field(name="clusterIP", default="")
    ports: tuple[_Port, ...] = ()


_NOTHING: Final = _Held()


def give_address(review: Review) -> None:
    """Fills in what a service needs and does not name, or names no longer."""
    if not review.is_of("", "Service") or not review.spec:
        return
    spec = review.spec
    if review.old is not None:
        _let_go(spec, review.old)
    if spec.get("type") == "ExternalName":
        return
    _give_cluster_address(review, spec)
    if spec.get("type") in _ON_NODES and spec.get("allocateLoadBalancerNodePorts") is not False:
        _give_node_ports(review, spec)


def hold_address(review: Review) -> None:
    """Refuses a service that names an address or a port that it cannot have."""
    if not review.is_of("", "Service"):
        return
    before = _NOTHING if review.old is None else review.old.body.spec(_Held)
    address = review.spec.get("clusterIP")
    is_new = isinstance(address, str) and address not in ("", _HEADLESS, before.cluster_i_p)
    if is_new and (wrong := _wrong_address(review, str(address))):
        message = f'Invalid value: ["{address}"]: failed to allocate IP {address}: {wrong}'
        raise _invalid(review, "spec.clusterIPs", message)
    known = {(port.node_port, port.protocol) for port in before.ports}
    own: set[tuple[int, str]] = set()
    for index, port in enumerate(maps(review.spec, "ports")):
        number, protocol = port.get("nodePort") or 0, str(port.get("protocol"))
        if not isinstance(number, int) or not number or (number, protocol) in known:
            continue
        wrong = _TAKEN if (number, protocol) in own else _wrong_port(review, number, protocol)
        own.add((number, protocol))
        if wrong:
            raise _invalid(review, f"spec.ports[{index}].nodePort", f"Invalid value: {number}: {wrong}")


def _invalid(review: Review, field: str, message: str) -> errors.Invalid:
    return errors.invalid(review.kind.resource, review.name, (Cause("FieldValueInvalid", message, field),))


def _let_go(spec: Tree, old: Record) -> None:
    """Drops what another type of service does not need and the client did not change either."""
    known, kind = held(old.body.tree(), "spec"), spec.get("type")
    before = known.get("type")
    dropped: list[str] = []
    if kind == "ExternalName" and before != "ExternalName":
        dropped += ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"]
    if kind != "LoadBalancer" and before == "LoadBalancer":
        dropped += ["allocateLoadBalancerNodePorts", "loadBalancerClass"]
    if kind not in _ON_NODES and before in _ON_NODES:
        _drop_node_ports(spec, known)
        dropped += [] if spec.get("externalIPs") else ["externalTrafficPolicy"]
    for name in dropped:
        if spec.get(name) == known.get(name):
            spec.pop(name, None)


def _drop_node_ports(spec: Tree, known: Tree) -> None:
    numbers = [port.get("nodePort") for port in maps(known, "ports")]
    if [port.get("nodePort") for port in maps(spec, "ports")] == numbers:
        for port in maps(spec, "ports"):
            port.pop("nodePort", None)


def _give_cluster_address(review: Review, spec: Tree) -> None:
    kept = review.old.body.spec(_Held).cluster_i_p if review.old is not None else ""
    if not spec.get("clusterIP"):
        if spec.get("clusterIPs") and not kept:
            return  # which is refused: the one goes with the other
        spec["clusterIP"] = kept or _free_address(review)
    is_anyones = spec["clusterIP"] == _HEADLESS and not spec.get("selector")
    fill(spec, {"ipFamilyPolicy": "RequireDualStack" if is_anyones else "SingleStack"})
    fill_empty(spec, {"clusterIPs": [spec["clusterIP"]], "ipFamilies": ["IPv4"]})
    families = spec["ipFamilies"]
    if is_anyones and spec["ipFamilyPolicy"] != "SingleStack" and isinstance(families, list) and len(families) == 1:
        # Endpoints that somebody else writes may be of either family, whatever the cluster gives its own.
        spec["ipFamilies"] = [*families, "IPv6" if families == ["IPv4"] else "IPv4"]


def _give_node_ports(review: Review, spec: Tree) -> None:
    ports = [port for port in maps(spec, "ports") if not port.get("nodePort")]
    if not ports:
        return
    numbers = {port.get("port"): port["nodePort"] for port in maps(spec, "ports") if port.get("nodePort")}
    taken: set[Json] = {port.node_port for record in _services(review) for port in record.body.spec(_Held).ports}
    taken.update(numbers.values())
    free = (number for number in NODE_PORTS if number not in taken)
    for port in ports:  # one number for a port that is open for two protocols
        port["nodePort"] = numbers[port.get("port")] = (
            _kept(review, port) or numbers.get(port.get("port")) or next(free, None) or _none_left("a nodePort")
        )


def _kept(review: Review, port: Tree) -> Json:
    """The number that the same port has had."""
    before = {} if review.old is None else held(review.old.body.tree(), "spec")
    for known in maps(before, "ports"):
        if (known.get("port"), known.get("protocol")) == (port.get("port"), port.get("protocol")):
            return known.get("nodePort")
    return None


def _services(review: Review) -> Iterator[Record]:
    old = review.old
    return (record for record in review.records("", "Service") if old is None or record.uid != old.uid)


def _taken(review: Review) -> Addresses:
    return addresses(review.store, review.store.table(review.resource("", "Service")), RANGE)


def _free_address(review: Review) -> Json:
    name = held(review.tree, "metadata").get("name", "")
    return _taken(review).free() or _none_left(f'a serviceIP for Service "{name}"')


def _none_left(what: str) -> Never:
    raise Failed(f"Internal error occurred: failed to allocate {what}: range is full")


def _wrong_address(review: Review, address: str) -> str:
    try:
        number = IPv4Address(address)
    except AddressValueError:
        return ""  # which is said in other words
    if number not in RANGE:
        return f"the provided IP ({address}) is not in the valid range. The range of valid IPs is {RANGE}"
    if _taken(review).has(address):
        return "provided IP is already allocated"
    return ""


def _wrong_port(review: Review, number: int, protocol: str) -> str:
    if number not in NODE_PORTS:
        first, last = NODE_PORTS[0], NODE_PORTS[-1]
        return f"provided port is not in the valid range. The range of valid ports is {first}-{last}"
    taken = ((port.node_port, port.protocol) for record in _services(review) for port in record.body.spec(_Held).ports)
    return _TAKEN if (number, protocol) in taken else ""

"""Services, and the endpoints behind them."""

from typing import Any, Final

from baseload.kube.validation import names
from baseload.kube.validation.fault import (
    Faults,
    Tree,
    duplicate,
    forbidden,
    immutable,
    invalid,
    required,
    unsupported,
)
from baseload.kube.validation.names import each

_PROTOCOLS: Final = ("SCTP", "TCP", "UDP")
_TYPES: Final = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_LOOPBACK: Final = "may not be in the loopback range (127.0.0.0/8, ::1/128)"
_BALANCED: Final = "may only be used when `type` is 'LoadBalancer'"
_POLICIES: Final = ("PreferDualStack", "RequireDualStack", "SingleStack")
_FAMILIES: Final = ("IPv4", "IPv6")
_TRAFFIC: Final = ("Cluster", "Local")
_DAY: Final = 86400
_HEADLESS: Final = "None"


def service(tree: Tree, old: Tree | None) -> Faults:
    """A Service."""
    spec = tree.get("spec", {})
    kind = spec.get("type")
    is_headless = spec.get("clusterIP") == _HEADLESS
    if not spec.get("ports") and not is_headless and kind != "ExternalName":
        yield required("spec.ports")
    if kind == "ExternalName":
        yield from names.needed(names.subdomain, spec.get("externalName", "").rstrip("."), "spec.externalName")
    elif kind in ("NodePort", "LoadBalancer") and is_headless:
        yield invalid("spec.clusterIPs[0]", _HEADLESS, f"may not be set to 'None' for {kind} services")
    yield from _ports(spec)
    if selector := spec.get("selector"):
        yield from names.labels(selector, "spec.selector")
    yield from _affinity(spec)
    yield from _addresses(spec, old)
    yield from _external_addresses(spec)
    if kind not in _TYPES:
        yield unsupported("spec.type", kind, _TYPES)
    yield from _node_ports(spec)
    yield from _balancer(spec)
    yield from _traffic(spec)


def _ports(spec: Tree) -> Faults:
    ports = spec.get("ports", ())
    seen: set[str] = set()
    known: set[tuple[Any, Any]] = set()
    for index, port in enumerate(ports):
        at, name = f"spec.ports[{index}]", port.get("name", "")
        if name:
            yield from each(names.dns_label(name), f"{at}.name", name)
            if name in seen:
                yield duplicate(f"{at}.name", name)
            seen.add(name)
        elif len(ports) > 1:
            yield required(f"{at}.name")
        number = port.get("port", 0)
        yield from names.port_number(f"{at}.port", number)
        if port.get("protocol") not in _PROTOCOLS:
            yield unsupported(f"{at}.protocol", port.get("protocol"), _PROTOCOLS)
        yield from names.port(f"{at}.targetPort", port.get("targetPort", 0))
        if application := port.get("appProtocol"):
            yield from each(names.qualified(application), f"{at}.appProtocol", application)
    for index, port in enumerate(ports):
        pair = port.get("protocol"), port.get("port")
        if pair in known:
            yield duplicate(f"spec.ports[{index}]", _told(port))
        known.add(pair)


def _told(port: Tree) -> Tree:
    """A port as Go prints the struct that it compares by."""
    told = {"Name": "", "Protocol": port.get("protocol"), "AppProtocol": None}
    return told | {"Port": port.get("port"), "TargetPort": 0, "NodePort": 0}


def _affinity(spec: Tree) -> Faults:
    told = spec.get("sessionAffinity")
    if told not in ("ClientIP", _HEADLESS):
        yield unsupported("spec.sessionAffinity", told, ("ClientIP", _HEADLESS))
    seconds = spec.get("sessionAffinityConfig", {}).get("clientIP", {}).get("timeoutSeconds")
    if told == "ClientIP" and not 0 < (seconds or 0) <= _DAY:
        path = "spec.sessionAffinityConfig.clientIP.timeoutSeconds"
        yield invalid(path, seconds, f"must be greater than 0 and less than {_DAY}")


def _addresses(spec: Tree, old: Tree | None) -> Faults:
    if spec.get("type") == "ExternalName":
        return
    address, addresses = spec.get("clusterIP"), spec.get("clusterIPs", [])
    if addresses and not address:
        yield invalid("spec.clusterIPs", addresses, "must be empty when `clusterIP` is not specified")
    elif addresses and addresses[0] != address:
        yield invalid("spec.clusterIPs", addresses, "first value must match `clusterIP`")
    policy = spec.get("ipFamilyPolicy")
    if policy is not None and policy not in _POLICIES:
        yield unsupported("spec.ipFamilyPolicy", policy, _POLICIES)
    for index, family in enumerate(spec.get("ipFamilies", ())):
        if family not in _FAMILIES:
            yield unsupported(f"spec.ipFamilies[{index}]", family, _FAMILIES)
    yield from _each_address(addresses)
    before = (old or {}).get("spec", {})
    held = before.get("clusterIPs", [])
    if held and addresses and addresses[0] != held[0] and before.get("type") != "ExternalName":
        yield invalid("spec.clusterIPs[0]", addresses, "may not change once set")
    yield from _one_family(spec, is_anyones=address == _HEADLESS and not spec.get("selector"))


def _one_family(spec: Tree, *, is_anyones: bool) -> Faults:
    """What a cluster of one family of addresses refuses, but for services whose endpoints somebody else writes."""
    policy, families = spec.get("ipFamilyPolicy"), spec.get("ipFamilies", [])
    if policy == "RequireDualStack" and not is_anyones:
        why = "this cluster is not configured for dual-stack services"
        yield invalid("spec.ipFamilyPolicy", policy, why)
    if policy == "SingleStack" and len(families) > 1:
        why = "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified"
        yield invalid("spec.ipFamilyPolicy", policy, why)
    elif not is_anyones:
        for index, family in enumerate(families):
            if family == "IPv6":
                yield invalid(f"spec.ipFamilies[{index}]", family, "not configured on this cluster")


def _each_address(addresses: list[str]) -> Faults:
    for index, one in enumerate(addresses):
        if one not in ("", _HEADLESS) and names.address(one) is None:
            yield invalid(f"spec.clusterIPs[{index}]", one, names.IP_SAYS)
    found = [known.version for one in addresses if (known := names.address(one)) is not None]
    if len(found) != len(set(found)):
        yield invalid("spec.clusterIPs", addresses, "may specify no more than one IP for each IP family")


def _external_addresses(spec: Tree) -> Faults:
    for index, text in enumerate(spec.get("externalIPs", ())):
        yield from usable(text, f"spec.externalIPs[{index}]")


def usable(text: str, path: str) -> Faults:
    """An address that others can reach."""
    address = names.address(text)
    if address is None:
        yield invalid(path, text, names.IP_SAYS)
    elif address.is_unspecified:
        yield invalid(path, text, f"may not be unspecified ({text})")
    elif address.is_loopback:
        yield invalid(path, text, _LOOPBACK)
    elif address.is_link_local:
        yield invalid(path, text, "may not be in the link-local range (169.254.0.0/16, fe80::/10)")
    elif address.is_multicast:
        yield invalid(path, text, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)")


def _node_ports(spec: Tree) -> Faults:
    kind = spec.get("type")
    if kind in ("NodePort", "LoadBalancer"):
        return
    for index, port in enumerate(spec.get("ports", ())):
        if port.get("nodePort"):
            yield forbidden(f"spec.ports[{index}].nodePort", f"may not be used when `type` is '{kind}'")


def _balancer(spec: Tree) -> Faults:
    is_balanced = spec.get("type") == "LoadBalancer"
    ranges = spec.get("loadBalancerSourceRanges", ())
    if ranges and not is_balanced:
        yield forbidden("spec.LoadBalancerSourceRanges", _BALANCED)
    for index, text in enumerate(ranges if is_balanced else ()):
        if names.network(text.strip()) is None:
            yield invalid(f"spec.LoadBalancerSourceRanges[{index}]", text, names.CIDR_SAYS)
    if spec.get("allocateLoadBalancerNodePorts") is not None and not is_balanced:
        yield forbidden("spec.allocateLoadBalancerNodePorts", _BALANCED)
    told = spec.get("loadBalancerClass")
    if told is not None:
        if not is_balanced:
            yield forbidden("spec.loadBalancerClass", _BALANCED)
        else:
            yield from each(names.qualified(told), "spec.loadBalancerClass", told)


def _traffic(spec: Tree) -> Faults:
    kind, outside, inside = spec.get("type"), spec.get("externalTrafficPolicy"), spec.get("internalTrafficPolicy")
    reached = kind in ("NodePort", "LoadBalancer") or (kind == "ClusterIP" and spec.get("externalIPs"))
    if outside:
        if not reached:
            yield invalid("spec.externalTrafficPolicy", outside, "may only be set for externally-accessible services")
        elif outside not in _TRAFFIC:
            yield unsupported("spec.externalTrafficPolicy", outside, _TRAFFIC)
    port = spec.get("healthCheckNodePort")
    if port and not (kind == "LoadBalancer" and outside == "Local"):
        why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
        yield invalid("spec.healthCheckNodePort", port, why)
    if inside is not None and inside not in _TRAFFIC:
        yield unsupported("spec.internalTrafficPolicy", inside, _TRAFFIC)
    spread = spec.get("trafficDistribution")
    known = ("PreferClose", "PreferSameZone", "PreferSameNode")
    if spread is not None and spread not in known:
        yield unsupported("spec.trafficDistribution", spread, known)


def endpoints(tree: Tree, old: Tree | None) -> Faults:
    """Endpoints."""
    for index, subset in enumerate(tree.get("subsets", ())):
        at = f"subsets[{index}]"
        if not subset.get("addresses") and not subset.get("notReadyAddresses"):
            yield required(at, "must specify `addresses` or `notReadyAddresses`")
        for field in ("addresses", "notReadyAddresses"):
            for place, one in enumerate(subset.get(field, ())):
                yield from _endpoint(one.get("ip", ""), f"{at}.{field}[{place}].ip")
        ports = subset.get("ports", ())
        for place, port in enumerate(ports):
            yield from _endpoint_port(port, f"{at}.ports[{place}]", is_named=len(ports) > 1)


def _endpoint(text: str, path: str) -> Faults:
    yield from usable(text, path)
    if names.address(text) is None:
        yield invalid(path, text, "must be a valid IP address")


def _endpoint_port(port: Tree, at: str, *, is_named: bool) -> Faults:
    name = port.get("name", "")
    if is_named and not name:
        yield required(f"{at}.name")
    elif name:
        yield from each(names.dns_label(name), f"{at}.name", name)
    yield from names.port_number(f"{at}.port", port.get("port", 0))
    if port.get("protocol") not in _PROTOCOLS:
        yield unsupported(f"{at}.protocol", port.get("protocol"), _PROTOCOLS)


def endpoint_slice(tree: Tree, old: Tree | None) -> Faults:
    """An EndpointSlice."""
    kind = tree.get("addressType", "")
    known = ("FQDN", "IPv4", "IPv6")
    if not kind:
        yield required("addressType")
    elif kind not in known:
        yield unsupported("addressType", kind, known)
    yield from _slice_endpoints(tree, kind)
    seen: set[str] = set()
    for index, port in enumerate(tree.get("ports", ())):
        at, name = f"ports[{index}]", port.get("name", "")
        if name:
            yield from each(names.dns_label(name), f"{at}.name", name)
        if name in seen:
            yield duplicate(f"{at}.name", name)
        seen.add(name)
        if port.get("protocol") not in _PROTOCOLS:
            yield unsupported(f"{at}.protocol", port.get("protocol"), _PROTOCOLS)
    if old is not None and kind != old.get("addressType"):
        yield immutable("addressType", None)


def _slice_endpoints(tree: Tree, kind: str) -> Faults:
    for index, endpoint in enumerate(tree.get("endpoints", ())):
        at = f"endpoints[{index}]"
        addresses = endpoint.get("addresses", ())
        if not addresses:
            yield required(f"{at}.addresses")
        for place, text in enumerate(addresses):
            if kind in _FAMILIES:
                yield from usable(text, f"{at}.addresses[{place}]")
        if host := endpoint.get("hostname"):
            yield from each(names.dns_label(host), f"{at}.hostname", host)

"""Ingresses, their classes, and network policies."""

from typing import Any, Final

from baseload.kube.validation import metadata, names
from baseload.kube.validation.fault import Faults, Tree, forbidden, immutable, invalid, required, unsupported
from baseload.kube.validation.names import each

_PATH_TYPES: Final = ("Exact", "ImplementationSpecific", "Prefix")
_NEVER_IN: Final = ("//", "/./", "/../", "%2f", "%2F")
_NEVER_AT_END: Final = ("/..", "/.")
_PROTOCOLS: Final = ("TCP", "UDP", "SCTP")
_DIRECTIONS: Final = ("Ingress", "Egress")


def ingress(tree: Tree, old: Tree | None) -> Faults:
    """An Ingress."""
    spec = tree.get("spec", {})
    default, rules = spec.get("defaultBackend"), spec.get("rules", ())
    if not rules and default is None:
        yield invalid("spec", None, "either `defaultBackend` or `rules` must be specified")
    if default is not None:
        yield from _backend(default, "spec.defaultBackend")
    for index, rule in enumerate(rules):
        yield from _rule(rule, f"spec.rules[{index}]")
    for index, tls in enumerate(spec.get("tls", ())):
        at = f"spec.tls[{index}]"
        for place, host in enumerate(tls.get("hosts", ())):
            yield from _host(host, f"{at}.hosts[{place}]")
        if name := tls.get("secretName"):
            yield from each(names.subdomain(name), f"{at}.secretName", name)
    if name := spec.get("ingressClassName"):
        yield from each(names.subdomain(name), "spec.ingressClassName", name)


def _host(host: str, path: str) -> Faults:
    rule = names.wildcard if "*" in host else names.subdomain
    yield from each(rule(host), path, host)


def _rule(rule: Tree, at: str) -> Faults:
    if host := rule.get("host"):
        if names.address(host) is not None:
            yield invalid(f"{at}.host", host, "must be a DNS name, not an IP address")
        yield from _host(host, f"{at}.host")
    if (http := rule.get("http")) is None:
        return
    if not http.get("paths"):
        yield required(f"{at}.http.paths")
    for index, path in enumerate(http.get("paths", ())):
        yield from _path(path, f"{at}.http.paths[{index}]")


def _path(given: Tree, at: str) -> Faults:
    kind, path = given.get("pathType"), given.get("path", "")
    if kind is None:
        yield required(f"{at}.pathType", "pathType must be specified")
    elif kind not in _PATH_TYPES:
        yield unsupported(f"{at}.pathType", kind, _PATH_TYPES)
    elif kind == "ImplementationSpecific":
        if path and not path.startswith("/"):
            yield invalid(f"{at}.path", path, "must be an absolute path")
    elif not path.startswith("/"):
        yield invalid(f"{at}.path", path, "must be an absolute path")
    else:
        for mark in _NEVER_IN:
            if mark in path:
                yield invalid(f"{at}.path", path, f"must not contain '{mark}'")
        for mark in _NEVER_AT_END:
            if path.endswith(mark):
                yield invalid(f"{at}.path", path, f"cannot end with '{mark}'")
    yield from _backend(given.get("backend", {}), f"{at}.backend")


def _backend(given: Tree, at: str) -> Faults:
    resource, service = given.get("resource"), given.get("service")
    if resource is not None and service is not None:
        yield invalid(at, "", "cannot set both resource and service backends")
    elif resource is not None:
        yield from _reference(resource, f"{at}.resource")
    elif service is None:
        yield invalid(at, "", "resource or service backend is required")
    else:
        yield from names.needed(names.dns_label, service.get("name", ""), f"{at}.service.name")
        yield from _service_port(service.get("port", {}), at)


def _service_port(port: Tree, at: str) -> Faults:
    name, number = port.get("name", ""), port.get("number", 0)
    if name and number:
        yield invalid(at, "", "cannot set both port name & port number")
    elif name:
        yield from each(names.port_name(name), f"{at}.service.port.name", name)
    elif number:
        yield from names.port_number(f"{at}.service.port.number", number)
    else:
        yield required(at, "port name or number is required")


def _reference(given: Tree, at: str) -> Faults:
    if group := given.get("apiGroup"):
        yield from each(names.subdomain(group), f"{at}.apiGroup", group)
    for field in ("kind", "name"):
        told = given.get(field, "")
        if not told:
            yield required(f"{at}.{field}")
        else:
            yield from each(names.path_segment(told), f"{at}.{field}", told)


def ingress_class(tree: Tree, old: Tree | None) -> Faults:
    """An IngressClass."""
    spec = tree.get("spec", {})
    controller = spec.get("controller", "")
    if old is not None and controller != old.get("spec", {}).get("controller"):
        yield immutable("spec.controller", controller)
    if not controller:
        yield required("spec.controller")
    else:
        yield from names.domain_path(controller, "spec.controller")
    if (parameters := spec.get("parameters")) is not None:
        yield from _parameters(parameters, "spec.parameters")


def _parameters(given: Tree, at: str) -> Faults:
    yield from _reference(given, at)
    scope, namespace = given.get("scope"), given.get("namespace")
    if scope not in ("Cluster", "Namespace"):
        yield unsupported(f"{at}.scope", scope, ("Cluster", "Namespace"))
    elif scope == "Namespace":
        if not namespace:
            yield required(f"{at}.namespace", "`parameters.scope` is set to 'Namespace'")
        else:
            yield from each(names.dns_label(namespace), f"{at}.namespace", namespace)
    elif namespace is not None:
        yield forbidden(f"{at}.namespace", "`parameters.scope` is set to 'Cluster'")


def network_policy(tree: Tree, old: Tree | None) -> Faults:
    """A NetworkPolicy."""
    spec = tree.get("spec", {})
    yield from metadata.selector(spec.get("podSelector"), "spec.podSelector")
    for direction, peers in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate(spec.get(direction, ())):
            at = f"spec.{direction}[{index}]"
            for place, port in enumerate(rule.get("ports", ())):
                yield from _policy_port(port, f"{at}.ports[{place}]")
            for place, peer in enumerate(rule.get(peers, ())):
                yield from _peer(peer, f"{at}.{peers}[{place}]")
    told = spec.get("policyTypes", [])
    if len(told) > len(_DIRECTIONS):
        yield invalid("spec.policyTypes", told, "may not specify more than two policyTypes")
        return
    for index, direction in enumerate(told):
        if direction not in _DIRECTIONS:
            yield unsupported(f"spec.policyTypes[{index}]", direction, _DIRECTIONS)


def _policy_port(given: Tree, at: str) -> Faults:
    if given.get("protocol") not in _PROTOCOLS:
        yield unsupported(f"{at}.protocol", given.get("protocol"), _PROTOCOLS)
    port, end = given.get("port"), given.get("endPort")
    if port is not None:
        yield from names.port(f"{at}.port", port)
    if end is None:
        return
    if port is None:
        yield invalid(f"{at}.endPort", end, "may not be specified when `port` is not specified")
    elif isinstance(port, str):
        yield invalid(f"{at}.endPort", end, "may not be specified when `port` is non-numeric")
    else:
        if end < port:
            yield invalid(f"{at}.endPort", end, "must be greater than or equal to `port`")
        yield from names.port_number(f"{at}.endPort", end)


def _peer(given: Tree, at: str) -> Faults:
    named = [name for name in ("podSelector", "namespaceSelector") if given.get(name) is not None]
    for name in named:
        yield from metadata.selector(given[name], f"{at}.{name}")
    block = given.get("ipBlock")
    if block is not None:
        yield from _block(block, f"{at}.ipBlock")
        if named:
            yield forbidden(at, "may not specify both ipBlock and another peer")
    elif not named:
        yield required(at, "must specify a peer")


def _block(given: Tree, at: str) -> Faults:
    text = given.get("cidr", "")
    if not text:
        yield required(f"{at}.cidr")
        return
    whole: Any = names.network(text)
    if whole is None:
        yield invalid(f"{at}.cidr", text, names.CIDR_SAYS)
        return
    for index, told in enumerate(given.get("except", ())):
        part: Any = names.network(told)
        if part is None:
            yield invalid(f"{at}.except[{index}]", told, names.CIDR_SAYS)
        elif part.version != whole.version or not part.subnet_of(whole) or part == whole:
            yield invalid(f"{at}.except[{index}]", told, "must be a strict subset of `cidr`")

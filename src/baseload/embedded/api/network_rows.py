"""What stands in the rows of services, endpoints and ingresses."""

from collections.abc import Iterator

from baseload.embedded.api.cells import NONE, Tree, items, shown
from baseload.embedded.api.pod_rows import at, maps, text

_SHOWN = 3  # addresses, ports or hosts; of more only the number is told


def external(tree: Tree, _: int) -> str:
    """The addresses at which a service is reached from outside."""
    spec = at(tree, "spec")
    listed = [shown(item) for item in items(at(spec, "externalIPs"))]
    kind = text(spec, "type")
    if kind == "ExternalName":
        return text(spec, "externalName")
    if kind == "LoadBalancer":
        balanced = load_balancer(tree, 0)
        return ",".join([balanced, *listed] if balanced else listed) or "<pending>"
    return ",".join(listed) or NONE


def load_balancer(tree: Tree, _: int) -> str:
    """The addresses of a load balancer, in order."""
    ingress = maps(at(tree, "status.loadBalancer"), "ingress")
    return ",".join(sorted({text(item, "ip") or text(item, "hostname") for item in ingress} - {""}))


def ports(tree: Tree, _: int) -> str:
    """A service's ports, with the nodes' ports where it has them."""
    return ",".join(map(_port, maps(at(tree, "spec"), "ports"))) or NONE


def _port(port: Tree) -> str:
    node = f":{port['nodePort']}" if port.get("nodePort") else ""
    return f"{port.get('port')}{node}/{text(port, 'protocol')}"


def hosts(tree: Tree, _: int) -> str:
    """The hosts of an ingress's rules."""
    rules = list(maps(at(tree, "spec"), "rules"))
    listed: list[str] = []
    more = False
    for rule in rules:
        more = more or len(listed) == _SHOWN
        if not more and text(rule, "host"):
            listed.append(text(rule, "host"))
    told = ",".join(listed) or "*"
    return f"{told} + {len(rules) - _SHOWN} more..." if more and listed else told


def endpoints(tree: Tree, _: int) -> str:
    """The addresses behind a service, each with each port."""
    if not list(maps(tree, "subsets")):
        return NONE
    listed = [one for subset in maps(tree, "subsets") for one in _of_subset(subset)]
    return _first(listed)


def _of_subset(subset: Tree) -> Iterator[str]:
    addresses = [text(address, "ip") for address in maps(subset, "addresses")]
    ports = list(maps(subset, "ports"))
    if not ports:
        yield from addresses
    for port in ports:
        for address in addresses:
            yield f"[{address}]:{port.get('port')}" if ":" in address else f"{address}:{port.get('port')}"


def slice_ports(tree: Tree, _: int) -> str:
    """The ports of an EndpointSlice."""
    return _first([text(port, "port") or text(port, "name") or "*" for port in maps(tree, "ports")]) or "<unset>"


def slice_endpoints(tree: Tree, _: int) -> str:
    """The addresses of an EndpointSlice."""
    addresses = [shown(address) for one in maps(tree, "endpoints") for address in items(one.get("addresses"))]
    return _first(addresses) or "<unset>"


def _first(listed: list[str]) -> str:
    told = ",".join(listed[:_SHOWN])
    return f"{told} + {len(listed) - _SHOWN} more..." if len(listed) > _SHOWN else told


def class_parameters(tree: Tree, _: int) -> str:
    """What the parameters of an IngressClass are."""
    parameters = at(tree, "spec.parameters")
    if not isinstance(parameters, dict):
        return NONE
    group = f".{parameters['apiGroup']}" if "apiGroup" in parameters else ""
    return f"{text(parameters, 'kind')}{group}/{text(parameters, 'name')}"

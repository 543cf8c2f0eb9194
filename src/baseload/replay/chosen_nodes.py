"""Which nodes, instances and pods an event means: by what it says of them, and some of those by lot."""

from collections.abc import Iterator, Mapping
from typing import Any

from baseload.cloud.simulated.draws import WHOLE
from baseload.cloud.simulated.inventory import Record as Instance
from baseload.embedded.actors import nodes as nodes_of
from baseload.embedded.actors import pods
from baseload.embedded.store.record import Record
from baseload.replay.nodes_seen import labels_of
from baseload.replay.workloads import workload_of
from baseload.world.living import Living

_Fields = Mapping[str, Any]
_PLACES = ("nodePool", "instanceType", "capacityType", "zone")


def nodes(living: Living, fields: _Fields) -> list[str]:
    """The names of the Nodes that are meant, in their order."""
    found = [record.name for record in _records(living, "Node") if _is_meant(record, fields)]
    return _drawn(living, _with_workload(living, found, fields), fields)


def instances(living: Living, fields: _Fields) -> list[Instance]:
    """The instances that are meant and not being given up, in the order of their launch."""
    region = living.cloud.region
    region.agenda.settle()
    wanted = None if fields["node"] is None and fields["workload"] is None else _instance_ids(living, fields)
    found = [
        record
        for record in region.inventory
        if record.is_living
        and _matches(
            (
                record.instance.tags.get("karpenter.sh/nodepool", ""),
                record.instance.instance_type,
                record.instance.capacity_type,
                record.instance.zone,
            ),
            fields,
        )
        and (wanted is None or record.instance.id in wanted)
    ]
    return _drawn(living, found, fields)


def pods_of(living: Living, namespace: str, workload: str) -> list[Record]:
    """The pods of a workload that have not ended, by their names."""
    return [
        record
        for record in _records(living, "Pod")
        if record.namespace == namespace
        and record.deletion is None
        and not pods.is_over(record)
        and workload_of(living.cluster.store, record)[1] == workload
    ]


def _instance_ids(living: Living, fields: _Fields) -> frozenset[str]:
    table = {record.name: nodes_of.spec(record).provider_id for record in _records(living, "Node")}
    names = [fields["node"]] if fields["node"] is not None else list(table)
    return frozenset(table.get(name, "").rpartition("/")[2] for name in _with_workload(living, names, fields))


def _is_meant(record: Record, fields: _Fields) -> bool:
    return fields["node"] in (None, record.name) and _matches(labels_of(record.shared.labels), fields)


def _matches(labels: tuple[str, ...], fields: _Fields) -> bool:
    return all(fields[name] in (None, value) for name, value in zip(_PLACES, labels, strict=True))


def _with_workload(living: Living, found: list[str], fields: _Fields) -> list[str]:
    if fields["workload"] is None:
        return found
    there = {pod.node for pod in pods_of(living, fields["namespace"] or "default", fields["workload"]) if pod.node}
    return [name for name in found if name in there]


def _drawn(living: Living, found: list[Any], fields: _Fields) -> list[Any]:
    """So many of those found, in their order."""
    count = len(found)
    if fields["count"] is not None:
        count = min(fields["count"], count)
    if fields["percent"] is not None:
        count = -(-count * fields["percent"] // WHOLE)
    if count >= len(found):
        return found
    streams = living.cloud.region.streams
    left = list(range(len(found)))
    for _ in range(len(found) - count):
        del left[streams.word("scenario") % len(left)]
    return [found[place] for place in left]


def _records(living: Living, kind: str) -> Iterator[Record]:
    store = living.cluster.store
    resource = store.resource_of("", kind)
    assert resource is not None
    records = store.table(resource).records
    return (records[key] for key in sorted(records))

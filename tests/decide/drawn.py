"""Random clusters of the reference's generator, read as the program reads files."""

from typing import Any

import msgspec

from baseload.catalog import kwok
from baseload.catalog.columns import InstanceTypes
from baseload.decide.provision.decide import provision
from baseload.decide.provision.options import Options
from baseload.kube import manifests
from baseload.model.view import View
from baseload.plan import encode
from baseload.world import options
from baseload.world.files import view_of

Object = dict[str, Any]
Inputs = tuple[View, dict[str, InstanceTypes], Options]


def inputs(objects: list[Object], catalog: list[Object], settings: Object) -> Inputs:
    """The objects as they would come from standard input, strictly checked."""
    data = msgspec.json.encode({"apiVersion": "v1", "kind": "List", "items": objects})
    view = view_of(manifests.load(["-"], stdin=lambda: data, validate="strict"))
    types = kwok.read(msgspec.json.encode(catalog), "catalog.json")
    tables = {pool.metadata.name: types for pool in view.node_pools}
    return view, tables, options.of_tree(settings, "options.yaml").options


def plan(objects: list[Object], catalog: list[Object], settings: Object) -> Object:
    """The plan in the JSON contract's form."""
    printed = msgspec.json.encode(encode.to_json(provision(*inputs(objects, catalog, settings))))
    return msgspec.json.decode(printed, type=dict[str, Any])

"""Carrying out what a scenario has happen: by the API as a user would, or on the simulated region as fate does.

What an event cannot do (an object that is not there, an eviction that a budget refuses, no instance of that kind) is a
line of the journal and no error: a scenario goes on.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import msgspec

from baseload.cloud.errors import CloudError
from baseload.cloud.simulated.draws import WHOLE
from baseload.cloud.simulated.settings import CapacityRule, FaultScript, Where, Window
from baseload.kube import kinds
from baseload.kube.client.client import Client
from baseload.kube.client.errors import ApiError, NotFound, Unreachable
from baseload.kube.client.port import Resource
from baseload.kube.manifests import Manifests
from baseload.replay import chosen_nodes
from baseload.replay.between import Fate
from baseload.replay.happenings import BY_USERS, Happening
from baseload.replay.loads import Loads
from baseload.replay.notebook import Notebook
from baseload.replay.weather import EVERYBODY, USERS, Weather
from baseload.values.instant import SECOND
from baseload.world.living import Living

SOURCE: Final = "scenario"
_Fields = Mapping[str, Any]
_DOWN: Final = 5 * SECOND
PODS: Final = Resource("", "v1", "pods")
NODES: Final = Resource("", "v1", "nodes")
_SCALED: Final = (("apps/v1", "Deployment"), ("apps/v1", "StatefulSet"), ("apps/v1", "ReplicaSet"))
_BEFORE_OTHERS: Final = ("Namespace", "CustomResourceDefinition")


class Acts:
    """What can happen to one living cluster."""

    def __init__(
        self, living: Living, notebook: Notebook, *, loads: Loads, weather: Weather, fates: Mapping[str, Fate]
    ) -> None:
        self._living, self._note, self._clock = living, notebook, living.clock
        self._loads, self._weather, self._fates = loads, weather, fates
        self._client: Client = living.client("scenario")
        self._kills = 0
        self._acts: dict[str, Callable[[_Fields], Awaitable[None]]] = {
            "delete": self._delete,
            "scale": self._scale,
            "patch": self._patch,
            "loadCurve": self._load,
            "runCronJob": self._run_cron_job,
            "interrupt": self._interrupt,
            "nodeFailure": self._fail,
            "outOfCapacity": self._run_out,
            "zoneDown": self._zone_down,
            "zoneUp": self._zone_up,
            "cloudFault": self._cloud_fault,
            "apiSlow": self._slow,
            "apiDown": self._api_down,
            "killController": self._kill,
            "cordon": lambda fields: self._cordon(fields, is_cordoned=True),
            "uncordon": lambda fields: self._cordon(fields, is_cordoned=False),
            "evict": self._evict,
        }

    async def carry_out(self, happening: Happening, applied: Manifests | None) -> None:
        """Does it, at this moment."""
        self._tell(f"event.{happening.do.lower()}", "", said(happening.fields))
        try:
            if happening.do in BY_USERS:
                await self._reach()
            if happening.do == "apply":
                await self._apply(applied)
            else:
                await self._acts[happening.do](happening.fields)
        except (ApiError, CloudError) as error:
            self._tell("event.refused", type(error).__name__, str(error))

    async def _reach(self) -> None:
        """What a user asks of the API server comes through, if it does, when that gets to it."""
        sky = self._weather.sky(USERS)
        if sky.outages:
            raise Unreachable("the API server does not answer", was_sent=True)
        if delay := sky.delay:
            await self._clock.sleep(delay / SECOND)

    def _tell(self, event: str, reason: str, message: str, object: str = "") -> None:
        self._note.tell(SOURCE, event, object, reason, message)

    def _after(self, nanoseconds: int | None, act: Callable[[], None]) -> None:
        """Has something be done later; for good where nothing is said."""
        if nanoseconds is not None:
            self.start(self._wait(nanoseconds, act))

    async def _wait(self, nanoseconds: int, act: Callable[[], None]) -> None:
        await self._clock.sleep(nanoseconds / SECOND)
        act()

    start: Callable[[Any], object]
    """Has a coroutine run beside; set by whoever drives the clock"""

    # -- as a user

    async def _apply(self, applied: Manifests | None) -> None:
        found = applied.found if applied else ()
        for one in sorted(found, key=lambda one: one.kind not in _BEFORE_OTHERS):
            tree = msgspec.json.decode(one.json)
            resource = self._resource(one.api_version, one.kind)
            if resource is None:
                self._tell("event.refused", "NotServed", f"{one.api_version} {one.kind} is not served", one.ref)
                continue
            tree.get("metadata", {}).pop("resourceVersion", None)
            tree.pop("status", None)
            namespace = one.namespace or ("default" if self._is_namespaced(one.kind) else "")
            await self._client.apply(resource, one.name, tree, namespace=namespace, force=True)

    async def _delete(self, fields: _Fields) -> None:
        resource, namespace = self._place(fields)
        await self._client.delete(resource, fields["name"], namespace=namespace)

    async def _scale(self, fields: _Fields) -> None:
        namespace, name = fields["namespace"] or "default", fields["workload"]
        for api_version, kind in _SCALED:
            resource = self._resource(api_version, kind)
            assert resource is not None
            try:
                await self._client.scale(resource, name, fields["replicas"], namespace=namespace)
            except NotFound:
                continue
            return
        raise NotFound(f"no Deployment, StatefulSet or ReplicaSet {namespace}/{name}")

    async def _patch(self, fields: _Fields) -> None:
        resource, namespace = self._place(fields)
        await self._client.patch(
            resource,
            fields["name"],
            dict(fields["patch"]),
            kind="merge",
            namespace=namespace,
            subresource=fields["subresource"] or "",
        )

    async def _run_cron_job(self, fields: _Fields) -> None:
        namespace, name = fields["namespace"] or "default", fields["workload"]
        jobs, cron_jobs = Resource("batch", "v1", "jobs"), Resource("batch", "v1", "cronjobs")
        held: Any = (await self._client.get(cron_jobs, name, namespace=namespace)).tree()
        template = held["spec"]["jobTemplate"]
        owner = {"apiVersion": "batch/v1", "kind": "CronJob", "name": name, "uid": held["metadata"]["uid"]}
        metadata = {
            **template.get("metadata", {}),
            "name": f"{name}-manual-{self._clock.now() // SECOND}",
            "annotations": {"cronjob.kubernetes.io/instantiate": "manual"},
            "ownerReferences": [{**owner, "controller": True}],
        }
        tree = {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": template["spec"]}
        await self._client.create(jobs, tree, namespace=namespace)

    async def _cordon(self, fields: _Fields, *, is_cordoned: bool) -> None:
        for name in self._nodes(fields):
            await self._client.patch(NODES, name, {"spec": {"unschedulable": is_cordoned or None}}, kind="merge")

    async def _evict(self, fields: _Fields) -> None:
        found = chosen_nodes.pods_of(self._living, fields["namespace"] or "default", fields["workload"])
        for pod in found[: fields["count"]]:
            try:
                await self._client.evict(pod.name, namespace=pod.namespace)
            except ApiError as error:
                self._tell("event.refused", type(error).__name__, str(error), f"Pod {pod.namespace}/{pod.name}")

    async def _load(self, fields: _Fields) -> None:
        curves = {name: fields[name] for name in ("cpu", "memory") if fields[name] is not None}
        self._loads.set((fields["namespace"] or "default", fields["workload"]), curves)

    # -- as fate

    async def _interrupt(self, fields: _Fields) -> None:
        region = self._living.cloud.region
        spot = {**fields, "capacityType": fields["capacityType"] or "spot"}
        for record in self._instances(spot):
            region.troubles.interrupt(record)

    async def _fail(self, fields: _Fields) -> None:
        for record in self._instances(fields):
            self._living.cloud.region.troubles.fail(record, fields["failure"], fields["for"])

    async def _run_out(self, fields: _Fields) -> None:
        most = fields["instances"] or 0
        capacity = self._living.cloud.region.capacity
        restriction = capacity.restrict(CapacityRule(most, most, _where(fields)))
        self._after(fields["for"], lambda: capacity.lift(restriction))

    async def _zone_down(self, fields: _Fields) -> None:
        troubles, zone = self._living.cloud.region.troubles, fields["zone"]
        troubles.zone_down(zone)
        self._after(fields["for"], lambda: troubles.zone_up(zone))

    async def _zone_up(self, fields: _Fields) -> None:
        self._living.cloud.region.troubles.zone_up(fields["zone"])

    async def _cloud_fault(self, fields: _Fields) -> None:
        moment = self._living.cloud.region.moment
        ends = None if fields["for"] is None else moment + fields["for"]
        self._living.cloud.faults.add(
            FaultScript(
                fields["call"],
                fields["error"],
                _where(fields),
                Window(moment, ends),
                count=fields["count"],
                share=WHOLE if fields["percent"] is None else fields["percent"],
                delay=fields["delay"] or 0,
                lost=bool(fields["lost"]),
            )
        )

    async def _slow(self, fields: _Fields) -> None:
        self._after(fields["for"], self._weather.slow(fields["controllers"] or EVERYBODY, fields["delay"]))

    async def _api_down(self, fields: _Fields) -> None:
        self._after(fields["for"], self._weather.down(fields["controllers"] or EVERYBODY))

    async def _kill(self, fields: _Fields) -> None:
        name, down = fields["controller"], _DOWN if fields["downFor"] is None else fields["downFor"]
        if name not in self._living.processes:
            self._tell("event.refused", "NotFound", f"there is no {name}")
        elif fields["afterWrites"] is None:
            self._end(name, down)
        else:
            self._fates[name].strike_after(fields["afterWrites"], lambda: self._end(name, down))

    def _end(self, name: str, down: int) -> None:
        """The process of a controller ends now, and starts anew after a while."""
        process = self._living.processes[name]
        self._kills += 1
        cause = f"killed, number {self._kills}"
        self._tell("controller.killed", "", "", f"Controller {name}")
        process.kill()
        process.hold(cause)
        self._after(down, lambda: process.release(cause))

    # -- who is meant

    def _nodes(self, fields: _Fields) -> list[str]:
        found = chosen_nodes.nodes(self._living, fields)
        if not found:
            self._tell("event.refused", "NotFound", "no Node is meant")
        return found

    def _instances(self, fields: _Fields) -> list[Any]:
        found = chosen_nodes.instances(self._living, fields)
        if not found:
            self._tell("event.refused", "NotFound", "no instance is meant")
        return found

    def _place(self, fields: _Fields) -> tuple[Resource, str]:
        name = fields["kind"]
        kind = next(kind for (_, held), kind in kinds.KINDS.items() if held == name)
        resource = self._resource(kind.api_version, name)
        if resource is None:
            raise NotFound(f"{kind.api_version} {name} is not served")
        return resource, (fields["namespace"] or "default") if kind.namespaced else ""

    def _resource(self, api_version: str, name: str) -> Resource | None:
        served = self._living.cluster.kinds.of_version_named(api_version, name)
        if served is None:
            return None
        return Resource(served.resource.group, api_version.rpartition("/")[2], served.resource.plural)

    def _is_namespaced(self, name: str) -> bool:
        return any(kind.namespaced for (_, held), kind in kinds.KINDS.items() if held == name)


def _where(fields: _Fields) -> Where:
    return Where(fields["types"] or (), fields["zones"] or (), fields["capacityTypes"] or ())


def said(fields: _Fields) -> str:
    """The fields of an event as the scenario has them, in their order."""
    return ", ".join(f"{name} {_text(name, value)}" for name, value in fields.items() if value is not None)


def _text(name: str, value: object) -> str:
    from baseload.values import duration

    if name in ("for", "delay", "downFor") and isinstance(value, int):
        return duration.format(value)
    if name == "percent" and isinstance(value, int):
        return f"{value / (WHOLE // 100):g} %"
    if isinstance(value, tuple | list):
        return " ".join(item if isinstance(item, str) else msgspec.json.encode(item).decode() for item in value)
    return str(value) if isinstance(value, str | int) else msgspec.json.encode(value).decode()

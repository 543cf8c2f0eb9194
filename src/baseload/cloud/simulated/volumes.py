"""Block devices: each in one zone, on at most one instance of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from baseload.cloud.errors import Conflict, NotFound
from baseload.cloud.port import Volume
from baseload.cloud.simulated.agenda import Agenda
from baseload.cloud.simulated.draws import Delays, Streams


@dataclass(frozen=True, slots=True)
class Kept:
    """What goes on after a restart."""

    volumes: list[Volume]
    tokens: dict[str, str]
    changes: dict[str, int]


class Devices:
    """The volumes, by id."""

    def __init__(self, agenda: Agenda, streams: Streams, *, attaching: Delays, detaching: Delays) -> None:
        self._agenda, self._streams = agenda, streams
        self._attaching, self._detaching = attaching, detaching
        self._volumes: dict[str, Volume] = {}
        self._by_token: dict[str, str] = {}
        self._changes: dict[str, int] = {}  # volume -> the number of its last change, which makes earlier ones void
        agenda.on("volume.changed", self._changed)

    def create(self, zone: str, gibibytes: int, token: str, tags: Mapping[str, str]) -> Volume:
        known = self._by_token.get(token)
        if known in self._volumes:
            return self._volumes[known]
        id = f"vol-0{self._streams.word('volume'):016x}"
        self._by_token[token] = id
        self._volumes[id] = Volume(id, zone, gibibytes, "available", tags=dict(tags))
        return self._volumes[id]

    def delete(self, id: str) -> None:
        if self._get(id).state != "available":
            raise Conflict(f"Volume {id} is currently attached to {self._get(id).instance}", code="VolumeInUse")
        del self._volumes[id]
        self._changes.pop(id, None)

    def attach(self, id: str, instance: str, zone: str) -> None:
        volume = self._get(id)
        if volume.zone != zone:
            raise Conflict(
                f"The volume '{id}' is not in the same availability zone as instance '{instance}'",
                code="InvalidVolume.ZoneMismatch",
            )
        if volume.instance == instance and volume.state in ("attaching", "in-use"):
            return
        if volume.state != "available":
            raise Conflict(f"{id} is already attached to an instance", code="VolumeInUse")
        self._change(id, instance, "attaching", self._attaching)

    def detach(self, id: str) -> None:
        volume = self._get(id)
        if volume.state in ("attaching", "in-use"):
            self._change(id, volume.instance, "detaching", self._detaching)

    def release(self, instance: str) -> None:
        """An instance has ended: nothing is attached to it any more."""
        for id, volume in self._volumes.items():
            if volume.instance == instance:
                self._volumes[id] = replace(volume, state="available", instance="")

    def kept(self) -> "Kept":
        return Kept(list(self._volumes.values()), self._by_token, self._changes)

    def put_back(self, kept: "Kept") -> None:
        self._volumes = {volume.id: volume for volume in kept.volumes}
        self._by_token, self._changes = kept.tokens, kept.changes

    def found(self, ids: Sequence[str]) -> tuple[Volume, ...]:
        return tuple(self._volumes[id] for id in ids if id in self._volumes)

    def _get(self, id: str) -> Volume:
        if id not in self._volumes:
            raise NotFound(f"The volume '{id}' does not exist.", code="InvalidVolume.NotFound")
        return self._volumes[id]

    def _change(self, id: str, instance: str, state: str, delays: Delays) -> None:
        self._volumes[id] = replace(self._volumes[id], state=state, instance=instance)  # type: ignore[arg-type]
        number = self._changes[id] = self._changes.get(id, 0) + 1
        self._agenda.after(delays.at(self._streams.share("volume-change")) or 0, "volume.changed", id, number)

    def _changed(self, id: str, number: int) -> None:
        volume = self._volumes.get(id)
        if volume is None or self._changes[id] != number:
            return
        if volume.state == "attaching":
            self._volumes[id] = replace(volume, state="in-use")
        elif volume.state == "detaching":
            self._volumes[id] = replace(volume, state="available", instance="")

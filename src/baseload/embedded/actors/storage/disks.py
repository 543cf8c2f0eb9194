"""Where the disks behind volumes are made: what CSI drivers ask of a cloud."""

from typing import Protocol


class DiskError(Exception):
    """It was not done, or nobody knows; it is asked again."""


class Disks(Protocol):
    """Disks by handle. Every call waits until what was asked for has come about, and may be repeated."""

    async def create(self, name: str, zone: str, size: int) -> str:
        """The handle of a disk of so many bytes; the same name gives the same one."""
        ...

    async def delete(self, handle: str) -> None: ...

    async def attach(self, handle: str, machine: str) -> None:
        """`machine` is the provider ID of the node."""
        ...

    async def detach(self, handle: str, machine: str) -> None: ...

    def most(self, instance_type: str) -> int | None:
        """How many disks a machine takes; None where that is not known."""
        ...

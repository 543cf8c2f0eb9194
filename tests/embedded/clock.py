"""The time of the tests of the embedded cluster."""

from baseload.values import instant


class Standing:
    """A clock that stands until a test moves it."""

    def __init__(self) -> None:
        self.time = instant.parse("2026-11-30T12:00:00Z")

    def now(self) -> int:
        return self.time

    def forward(self, seconds: int) -> None:
        self.time += seconds * instant.SECOND

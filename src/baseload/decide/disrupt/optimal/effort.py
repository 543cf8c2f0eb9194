"""How long a search may go on, counted in work and not in time, so that it ends in the same place everywhere."""

from typing import Final

PODS: Final = 15_000
"""how many pods one search may place in its simulations"""
A_SIMULATION: Final = 5
"""pods that a simulation counts for besides those that it places"""


class Effort:
    """What is left of the work that a search may do."""

    def __init__(self, pods: int = PODS) -> None:
        self._pods = pods

    @property
    def is_spent(self) -> bool:
        return self._pods <= 0

    def spend(self, pods: int) -> None:
        """One simulation that places so many pods."""
        self._pods -= pods + A_SIMULATION

"""How long a search may go on, counted in work and not in time, so that it ends in the same place everywhere."""

from typing import Final

SIMULATIONS: Final = 2_000
PODS: Final = 15_000
"""what one pass may simulate, and how many pods it may place in doing so"""


class Effort:
    """What is left of the work that a search may do."""

    def __init__(self, simulations: int = SIMULATIONS, pods: int = PODS) -> None:
        self._simulations = simulations
        self._pods = pods

    @property
    def is_spent(self) -> bool:
        return self._simulations <= 0 or self._pods <= 0

    def spend(self, pods: int) -> None:
        """One simulation that places so many pods."""
        self._simulations -= 1
        self._pods -= pods

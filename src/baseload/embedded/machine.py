"""What a cluster in this process takes from the machine: its time and its chance."""

import random
import time
from typing import Final


class WallClock:
    """The time as the machine has it."""

    def now(self) -> int:
        return time.time_ns()


CHANCE: Final = random.SystemRandom()

"""Times a command as a whole process, by the operating system's account, and a call by the processor's clock."""

import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
BASELOAD = (sys.executable, "-m", "baseload")


@dataclass(frozen=True, slots=True)
class Run:
    """One finished process."""

    cpu: float  # seconds, user and system
    peak: float  # MiB


def command(arguments: Sequence[str], *, times: int) -> Run:
    """The median run of a baseload command, after one that is not counted; its output goes nowhere."""
    runs = [_once([*BASELOAD, *arguments]) for _ in range(times + 1)][1:]
    return Run(statistics.median(r.cpu for r in runs), statistics.median(r.peak for r in runs))


def _once(words: Sequence[str]) -> Run:
    with open(os.devnull, "wb") as nowhere:
        process = subprocess.Popen(words, stdout=nowhere, stderr=subprocess.PIPE)
        assert process.stderr is not None
        said = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(words)} ended with {process.returncode}: {said.decode()[-500:]}")
    return Run(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """Processor seconds of one call, and what it gave."""
    start = time.process_time()
    given = work()
    return time.process_time() - start, given


def machine() -> str:
    """What the figures were taken on."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")
    spin = min(timed(_spin)[0] for _ in range(5))
    return (
        f"{model}, {os.cpu_count()} cores, {platform.system()}, CPython {platform.python_version()}; "
        f"10 million turns of an empty loop take {spin:.2f} s here"
    )


def _spin() -> None:
    for _ in range(10_000_000):
        pass

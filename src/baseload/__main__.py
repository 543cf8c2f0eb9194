"""Where a process starts: `baseload`, and `python -m baseload`.

An interrupt while the first modules are imported is one like any other. The process ends without taking its memory
down: nothing that a command made needs it, and after a large plan it would take a tenth of the command's time.
"""

import os
import sys
from typing import NoReturn

INTERRUPTED = 130


def enter() -> NoReturn:
    """Runs the process's own command line."""
    try:
        from baseload.cli.main import main

        status = main()
    except KeyboardInterrupt:
        status = INTERRUPTED
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            try:
                stream.flush()
            except OSError:
                status = status or 2
    os._exit(status)


if __name__ == "__main__":
    enter()

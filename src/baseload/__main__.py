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
    except RuntimeError as error:
        if not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        status = INTERRUPTED  # it came while a class was made, where Python before 3.12 makes it a RuntimeError
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            try:
                stream.flush()
            except OSError:
                status = status or 2
    os._exit(status)


if __name__ == "__main__":
    enter()

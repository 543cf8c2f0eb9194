"""`python -m baseload` is `baseload`."""

import sys

from baseload.cli.main import main

sys.exit(main())

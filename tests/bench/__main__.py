"""`make bench`: the pages over palaces of 10,000 and 100,000 drawers."""

from __future__ import annotations

import sys

from tests.bench.pages import main

for size in [int(argument) for argument in sys.argv[1:]] or [10_000, 100_000]:
    main(size)

"""Draw the figures of exact laws."""

import sys

from tools.figures.catalog import main

sys.exit(main())

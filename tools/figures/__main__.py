"""Draw the figures of exact laws."""

import sys

from tools.figures.catalogue import main

sys.exit(main())

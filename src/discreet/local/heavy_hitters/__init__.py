"""Heavy hitters: frequent values of a domain that is too large to list."""

from discreet.local.heavy_hitters.protocol import HeavyHitters, Hitters

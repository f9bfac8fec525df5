"""The version of discreet, read by the build and by `discreet --version`."""

__version__ = "0.1.0.dev0"

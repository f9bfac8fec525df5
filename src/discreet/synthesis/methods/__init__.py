"""The methods of query release, and a table of them by name."""

from discreet.synthesis.methods.named import METHODS, Best, Make, method_named, spelled

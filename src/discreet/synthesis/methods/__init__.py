"""The methods of query release, and a table of them by name."""

from discreet.synthesis.methods.best import Best
from discreet.synthesis.methods.named import METHODS, Make, method_named, spelled

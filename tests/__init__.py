"""The claims of discreet, checked; the folders mirror src/discreet."""

"""Commands of an analyst: explain, ask, budget, synthesize, learn."""

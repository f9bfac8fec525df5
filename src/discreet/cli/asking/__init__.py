"""Commands of an analyst: explain, ask, posterior, budget, synthesize, learn."""

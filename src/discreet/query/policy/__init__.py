"""The policy: what a curator declares about tables, columns, units and budgets, and how its file is read."""

"""How an attacker asks: counting queries, targets, noise and what a table is read as."""

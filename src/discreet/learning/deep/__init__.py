"""Private training of networks: a public plan, clipped sums in one backward pass, exact noise, and the trainer."""

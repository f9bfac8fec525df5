"""Private deep learning: a plan with its price, clipped sums, exact noise, training."""

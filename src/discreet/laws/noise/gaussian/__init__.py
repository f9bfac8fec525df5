"""What the two Gaussian laws on the integers rest on: sums and masses as balls, and the exact samplers."""

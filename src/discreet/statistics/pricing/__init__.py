"""What a statistic costs, and the noise that its answers carry together."""

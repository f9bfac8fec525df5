"""Answers: what an analyst receives, with error bars, a certificate and a plot."""

"""Pricing: what a query will cost and how far off it may be, before anything is charged."""

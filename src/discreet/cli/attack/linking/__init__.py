"""Attacks that find people in tables without names: linkage, ratings, k-anonymity."""

"""Exact samplers: draws whose law is the stated one, with no floating-point gap."""

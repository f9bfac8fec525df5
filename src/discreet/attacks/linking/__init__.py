"""Linking: records found again by what is unique about them, and what anonymity costs."""

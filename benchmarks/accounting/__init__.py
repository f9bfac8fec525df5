"""The accountant beside its peers."""

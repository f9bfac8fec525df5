"""Private statistics beside their peers."""

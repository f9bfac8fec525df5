"""Private SQL beside plain SQL and the peers."""

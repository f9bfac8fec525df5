"""Query release beside the papers and the peers."""

"""`discreet attack NAME`: one attack a file, each on invented people, without and with protection."""

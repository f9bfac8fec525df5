"""Best responses: the record that answers a weighted sum of queries best."""

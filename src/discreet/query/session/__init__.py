"""The session: the road from a question to a charge, a run and an answer."""

"""The curator's engine: a policy, SQL in, private answers out."""

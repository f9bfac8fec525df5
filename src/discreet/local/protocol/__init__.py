"""The protocol: what a specification says, what a client sends, what an aggregator counts."""

"""anonymisers as a peer."""

"""The domain of a table: public attributes, their bins, and synthetic tables over them."""

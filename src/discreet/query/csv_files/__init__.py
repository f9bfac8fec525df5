"""CSV files, read by records and converted once into a private copy that the engine reads."""

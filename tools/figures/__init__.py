"""Figures of the documentation: `python -m tools.figures` draws exact laws, `tools.figures.experiments` the rest."""

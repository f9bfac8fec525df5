"""The golden files: public names, results on fixed random words, plans, prices and texts, to compare after a change."""

from __future__ import annotations

from tools.golden.files import FILES, difference, stored, text_of

__all__ = ["FILES", "difference", "stored", "text_of"]

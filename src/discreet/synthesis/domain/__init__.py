"""The domain of a table: public attributes, their bins, and synthetic tables over them."""

from __future__ import annotations

from discreet.synthesis.domain.attribute import Attribute, Binned, Bins
from discreet.synthesis.domain.domain import Attribute, Codes, Domain, Records
from discreet.synthesis.domain.synthetic_table import SyntheticTable

__all__ = ["Attribute", "Binned", "Bins", "Codes", "Domain", "Records", "SyntheticTable"]

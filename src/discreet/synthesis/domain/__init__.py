"""The domain of a table: public attributes, their bins, and synthetic tables over them."""

from discreet.synthesis.domain.attribute import BINS, Attribute, Binned, Bins, Codes
from discreet.synthesis.domain.domain import Domain, Records
from discreet.synthesis.domain.synthetic_table import SyntheticTable

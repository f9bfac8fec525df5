"""What every method of query release shares: neighbors, purse and release."""

from discreet.synthesis.base.neighbors import Neighbors
from discreet.synthesis.base.purse import Noisy, Purse, checked_share, deviation_of, noise_for
from discreet.synthesis.base.release import Synthesizer, SyntheticRelease, require_records

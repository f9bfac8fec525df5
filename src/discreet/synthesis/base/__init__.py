"""What every method of query release shares: neighbors, allowance and release."""

from discreet.synthesis.base.allowance import Allowance, Noisy, checked_share, deviation_of, noise_for
from discreet.synthesis.base.measured_histogram import MeasuredHistogram
from discreet.synthesis.base.neighbors import Neighbors
from discreet.synthesis.base.release import Synthesizer, SyntheticRelease, require_records

"""Exact draws of choices: races of exponential clocks, and many softmax draws at once."""

from discreet.laws.samplers.race import Race, Runner, Softmax, as_scores, exact_score, log_uniforms
from discreet.laws.samplers.softmax_draws import SignedDraws, SoftmaxDraws, signed_draws

"""Exact samplers: draws whose law is the stated one, with no floating-point gap."""

from discreet.laws.samplers.floating import ensure_tested
from discreet.laws.samplers.gaussian import GaussianSampler
from discreet.laws.samplers.laplace import LaplaceSampler
from discreet.laws.samplers.race import Race, Runner, Softmax, as_scores, exact_score, log_uniforms
from discreet.laws.samplers.softmax_draws import SignedDraws, SoftmaxDraws, signed_draws
from discreet.laws.samplers.theta import gaussian_sum, gaussian_tail

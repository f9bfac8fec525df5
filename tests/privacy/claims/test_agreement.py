"""Agreement with other accountants, where these are sound: their answers are stored here, with the side that holds.

dp-accounting 0.6.0 on its grid of 1e-4 rounds up, apart from rounding errors near 1e-8; below delta = 1e-10 it does not
and is not asked. Its optimistic answers round down at these deltas. prv-accountant 0.2.0 gives an interval; its middle
is biased for laws with atoms; for sampled noise it looks at the removal of a person only.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import pytest

from tests.privacy.accounting.compositions import Part, loss_of

ROUNDING = 1e-7
EXCESS = 1e-3


class Peers(NamedTuple):
    """A composition and what the other accountants said of it."""

    parts: list[Part]
    delta: float
    upper: float
    lower: float = 0.0
    interval: tuple[float, float] | None = None


GAUSSIAN: list[Part] = [("gaussian", {"scale": 10.0}, 100)]
LAPLACE: list[Part] = [("laplace", {"scale": 20.0}, 100)]
SAMPLED_GAUSSIAN: list[Part] = [("gaussian", {"scale": 1.0, "rate": 0.01}, 1000)]
OFTEN_SAMPLED_GAUSSIAN: list[Part] = [("gaussian", {"scale": 2.0, "rate": 0.2}, 100)]
SAMPLED_LAPLACE: list[Part] = [("laplace", {"scale": 1.0, "rate": 0.05}, 100)]
INTEGER_GAUSSIAN: list[Part] = [("discrete_gaussian", {"scale": 3.0}, 50)]
WIDE_INTEGER_GAUSSIAN: list[Part] = [("discrete_gaussian", {"scale": 5.0, "shift": 2}, 30)]
INTEGER_LAPLACE: list[Part] = [("discrete_laplace", {"scale": 8.0}, 50)]
WIDE_INTEGER_LAPLACE: list[Part] = [("discrete_laplace", {"scale": 20.0, "shift": 3}, 50)]
RESPONSE: list[Part] = [("response", {"epsilon": 0.25, "categories": 5}, 60)]
PURE: list[Part] = [("guarantee", {"epsilon": 0.1, "delta": 0}, 100)]
APPROXIMATE: list[Part] = [("guarantee", {"epsilon": 0.1, "delta": 1e-8}, 100)]
MIXTURE: list[Part] = [
    ("gaussian", {"scale": 10.0}, 20),
    ("laplace", {"scale": 20.0}, 20),
    ("discrete_laplace", {"scale": 20.0}, 20),
    ("response", {"epsilon": 0.1, "categories": 3}, 20),
]
SAMPLED_MIXTURE: list[Part] = [
    ("gaussian", {"scale": 1.0, "rate": 0.02}, 200),
    ("laplace", {"scale": 2.0, "rate": 0.05}, 50),
]

STORED = [
    Peers(GAUSSIAN, 1e-5, 4.377178519105701, 4.372178265200859, (4.356951332270475, 4.397418161322861)),
    Peers(GAUSSIAN, 1e-8, 5.776099019476659, 5.771098589113168, (5.755926401187209, 5.79628367662599)),
    Peers(LAPLACE, 1e-5, 1.9477086075469912, 1.9475933026268095, (1.9316867415633123, 1.9719151956593448)),
    Peers(LAPLACE, 1e-8, 2.6137401790271655, 2.613624788244804, (2.587384358564857, 2.627559221716723)),
    Peers(SAMPLED_GAUSSIAN, 1e-5, 1.828243645591767, 1.7782397279070383, (1.808116448011399, 1.848380465243985)),
    Peers(SAMPLED_GAUSSIAN, 1e-8, 2.6978754973674532, 2.6478715943679636, (2.677752538595885, 2.7180027350755958)),
    Peers(OFTEN_SAMPLED_GAUSSIAN, 1e-5, 5.023179789474753, 5.018179567829884, (5.00289510433059, 5.0434746695145165)),
    Peers(OFTEN_SAMPLED_GAUSSIAN, 1e-8, 6.807620265450589, 6.802620027868593, (6.787390782029296, 6.827858942195327)),
    Peers(SAMPLED_LAPLACE, 1e-5, 1.918384537162083, 1.9131910711951043),
    Peers(SAMPLED_LAPLACE, 1e-8, 2.6466461742949217, 2.641772555165639),
    Peers(INTEGER_GAUSSIAN, 1e-5, 12.265423283383317, 12.26098079798595),
    Peers(INTEGER_GAUSSIAN, 1e-8, 15.499153505784133, 15.494761095187034),
    Peers(WIDE_INTEGER_GAUSSIAN, 1e-5, 11.191155476304031, 11.190947056156919),
    Peers(WIDE_INTEGER_GAUSSIAN, 1e-8, 14.201989291361777, 14.201725256693738),
    Peers(INTEGER_LAPLACE, 1e-5, 3.6774926782154638, 3.6774926782154638),
    Peers(INTEGER_LAPLACE, 1e-8, 4.722283506226805, 4.722283506226805),
    Peers(WIDE_INTEGER_LAPLACE, 1e-5, 4.407393107261578, 4.402575295040991),
    Peers(WIDE_INTEGER_LAPLACE, 1e-8, 5.646744323194516, 5.641888732128409),
    Peers(RESPONSE, 1e-5, 5.721331634800005, 5.718178078231188),
    Peers(RESPONSE, 1e-8, 7.424221225656333, 7.42068663042191),
    Peers(PURE, 1e-5, 4.306791372574041, 0, (4.295122873566589, 4.335585043861471)),
    Peers(PURE, 1e-8, 5.586184933369472, 0, (5.5534014065291695, 5.5935832188257555)),
    Peers(APPROXIMATE, 1e-5, 4.329636714037352, 0, (4.317973435747995, 4.358425167296607)),
    Peers(APPROXIMATE, 1e-8, math.inf, 0, (math.inf, math.inf)),
    Peers(MIXTURE, 1e-5, 2.6999498636621073, 2.6974856501303144),
    Peers(MIXTURE, 1e-8, 3.606215456071761, 3.6036931864103874),
    Peers(SAMPLED_MIXTURE, 1e-5, 1.9550346979343152, 1.9434965946077984),
    Peers(SAMPLED_MIXTURE, 1e-8, 3.0550426622431934, 3.0435049618373147),
]


@pytest.mark.parametrize("peers", STORED, ids=lambda peers: f"{peers.parts[0][0]}-{peers.delta:g}")
def test_the_answer_lies_where_the_sound_bounds_of_others_allow(peers):
    found = loss_of(peers.parts).epsilon(peers.delta)
    assert found.lower <= peers.upper + ROUNDING
    assert found.upper >= peers.lower - ROUNDING
    # theirs is tight up to a grid: ours may not be much larger
    assert found.upper <= peers.upper * (1 + EXCESS)


@pytest.mark.parametrize(
    "peers", [one for one in STORED if one.interval], ids=lambda peers: f"{peers.parts[0][0]}-{peers.delta:g}"
)
def test_the_answer_meets_the_intervals_of_others(peers):
    low, high = peers.interval
    found = loss_of(peers.parts).remove.epsilon(peers.delta)
    assert found.lower <= high
    assert found.upper >= low

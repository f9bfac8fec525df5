"""The privacy loss as a random walk: paths of the total loss, Azuma's line over them, and the tight one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.errors import NoSoundConversion, ParameterError
from discreet.laws.number import Number

if TYPE_CHECKING:
    from discreet.display.plots import Plot
    from discreet.privacy.loss.loss import PrivacyLoss

_MARKS, _MOST_STEPS = 12, 1 << 24
_ORDERS = [1 + 2.0 ** (power / 4) for power in range(-16, 41)]


@dataclass(frozen=True, slots=True, eq=False)
class LossWalk:
    """Drawn paths of the total loss after 1, 2, ... repetitions, its mean, and two lines that a path rarely crosses.

    `azuma` and `tight` are given at the repetitions `marks`. `tight` is epsilon(delta) of that many repetitions, the
    certified upper end; `azuma` is the line of the textbook's proof of advanced composition, in floats, for pictures.
    Where losses are unbounded Azuma's inequality says nothing, and `bounded` is False: the line is then Chernoff's, the
    least k D_a + ln(1/delta)/(a - 1) over orders a of the Renyi divergence.

    Accuracy. A path is above the line after k releases with chance at most delta; so k releases are (line, delta)-DP.
        Proof: the loss of one lies in [-m, m] with mean at most D. By Azuma's inequality the sum of k exceeds k D + t
        with chance at most exp(-t^2/(2 k m^2)), which is delta at t = m sqrt(2 k ln(1/delta)). Chernoff: P(L > e) <=
        e^((a-1) (k D_a - e)), by Markov's inequality. Where the loss is at most e, P(S) <= e^e Q(S). `tight` is the
        least with the second property alone, so paths are above it more often than delta.
    Reference. Dwork, Rothblum, Vadhan 2010; Mironov 2017.
    """

    paths: NDArray[np.float64]
    mean: NDArray[np.float64]
    marks: NDArray[np.int64]
    azuma: NDArray[np.float64]
    tight: NDArray[np.float64]
    delta: float
    bounded: bool

    def __len__(self) -> int:
        return len(self.mean)

    def plot(self) -> Plot:
        """Draw the paths, their mean and both lines; needs the extra `plot`."""
        from discreet.display.plots import plot_paths

        return plot_paths(
            np.arange(1, len(self) + 1),
            self.paths,
            mean=self.mean,
            lines={
                f"{'Azuma' if self.bounded else 'Chernoff'}'s line at delta {self.delta:g}": (self.marks, self.azuma),
                "tight line, epsilon(delta)": (self.marks, self.tight),
            },
            title="The privacy loss is a random walk",
            x_label="releases",
            y_label="total loss",
            names=("one run of releases", "mean of the loss"),
        )


def walk_of(loss: PrivacyLoss, count: int, delta: Number, walks: int) -> LossWalk:
    """Draw the walks of a loss repeated `count` times, and compute the lines at some of the repetitions."""
    if not 0 < delta < 1:
        raise ParameterError("delta must lie strictly between 0 and 1 for a line to exist", parameter="delta")
    if count * walks > _MOST_STEPS:
        raise ParameterError("count times walks must be at most 2^24: draw fewer walks", parameter="count")
    law = loss._law
    paths = np.cumsum(law.sample(walks * count).reshape(walks, count), axis=1)
    if not np.all(np.isfinite(paths)):
        raise NoSoundConversion("this loss may be infinite, and then has no walk: leave out the parts with a delta")
    # closer together at the start, where the lines bend
    marks = np.unique(np.rint(np.linspace(1, math.sqrt(count), min(_MARKS, count)) ** 2).astype(np.int64))
    return LossWalk(
        paths,
        np.asarray(law.mean.estimate * np.arange(1, count + 1), dtype=np.float64),
        marks,
        _lines(loss, marks, float(delta)),
        np.array([(loss * int(k)).epsilon(delta).upper for k in marks]),
        float(delta),
        math.isfinite(_largest(loss)),
    )


def _largest(loss: PrivacyLoss) -> float:
    """Return the largest absolute loss: one direction's least loss is minus the largest of the other."""
    return max(loss.remove.max_loss().upper, loss.add.max_loss().upper)


def _lines(loss: PrivacyLoss, counts: NDArray[np.int64], delta: float) -> NDArray[np.float64]:
    """Return the line of `LossWalk` after each number of repetitions."""
    largest, log = _largest(loss), -math.log(delta)
    if math.isfinite(largest):
        return np.asarray(counts * loss.mean.upper + largest * np.sqrt(2 * counts * log))
    divergences = np.array([loss.renyi(order).upper for order in _ORDERS])
    if not np.any(np.isfinite(divergences)):
        raise NoSoundConversion("no line is known for a loss that is unbounded and not concentrated")
    return np.asarray(np.min(np.outer(counts, divergences) + log / (np.array(_ORDERS) - 1), axis=1))

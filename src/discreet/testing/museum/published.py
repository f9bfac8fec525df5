"""What two statistical testers published about the benchmark: their lower bounds and times, facts of their logs.

`claim` and the bounds are epsilons, times are seconds of the whole search on the authors' machine. The bounds hold at a
confidence of 90 % for each mechanism alone, without a correction for looking at twenty, so that some are false.
Reference. Bichsel, Steffen, Bogunovic, Vechev 2021 (DP-Sniper, and StatDP as run by its authors); Ding, Wang, Wang,
Zhang, Kifer 2018 (StatDP).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Published:
    """Lower bounds and seconds of one mechanism; None where there is no number."""

    sniper_logistic: float
    sniper_perceptron: float
    statdp_first: float | None
    statdp_second: float | None
    sniper_seconds: tuple[int, int]
    statdp_seconds: tuple[int, int] | None

    @property
    def bounds(self) -> dict[str, float]:
        """The bounds by the name of who published them."""
        named = {
            "DP-Sniper, logistic": self.sniper_logistic,
            "DP-Sniper, perceptron": self.sniper_perceptron,
            "StatDP, first run": self.statdp_first,
            "StatDP, second run": self.statdp_second,
        }
        return {name: bound for name, bound in named.items() if bound is not None}

    def false_bounds(self, truth: float) -> dict[str, float]:
        """Return the published lower bounds that exceed the truth by more than their last printed digit.

        >>> PUBLISHED["RAPPOR"].false_bounds(0.30006)
        {'DP-Sniper, perceptron': 0.3008}
        """
        return {name: bound for name, bound in self.bounds.items() if bound > truth + 0.5e-4}


PUBLISHED = {
    "Laplace": Published(0.0968, 0.0976, 0.0998, 0.0996, (21, 217), (409, 400)),
    "TruncatedGeometric": Published(0.1156, 0.1155, 0.1159, 0.1169, (19, 162), (1368, 1364)),
    "NoisyHist1": Published(0.0978, 0.0977, 0.0828, 0.0994, (38, 211), (934, 912)),
    "NoisyHist2": Published(4.6020, 4.6015, 9.7169, 10.0022, (41, 254), (1244, 1223)),
    "ReportNoisyMax1": Published(0.0923, 0.0925, 0.0920, 0.0921, (62, 492), (460, 456)),
    "ReportNoisyMax2": Published(0.0975, 0.0979, 0.0996, 0.0997, (58, 423), (458, 454)),
    "ReportNoisyMax3": Published(0.2478, 0.2488, 0.1991, 0.1961, (62, 437), (567, 559)),
    "ReportNoisyMax4": Published(0.3463, 0.3534, 0.1960, 0.1988, (63, 451), (563, 559)),
    "SVT1": Published(0.0858, 0.0858, 0.0298, 0.0298, (126, 966), (749, 762)),
    "SVT2": Published(0.0859, 0.0852, 0.0316, 0.0407, (160, 825), (832, 832)),
    "SVT3": Published(0.1716, 0.1822, 0.0231, 0.1793, (160, 880), (6264, 6287)),
    "SVT4": Published(0.1687, 0.1696, 0.1709, 0.1719, (130, 815), (1016, 1002)),
    "SVT5": Published(1.7612, 1.7610, 14.3143, 14.3143, (59, 527), (725, 731)),
    "SVT6": Published(0.2720, 0.2698, 0.3220, 0.3200, (96, 584), (1378, 1381)),
    "RAPPOR": Published(0.2930, 0.3008, 0.2416, 0.0243, (145, 529), (2249, 2236)),
    "OneTimeRAPPOR": Published(0.5978, 0.5999, 0.4706, 0.0602, (89, 408), (1877, 1873)),
    "LaplaceParallel": Published(0.0350, 0.0299, 0.0126, 0.0135, (104, 341), (5715, 5723)),
    "SVT34Parallel": Published(0.2610, 0.2616, 0.1371, 0.1963, (364, 1117), (27959, 28166)),
    "PrefixSum": Published(0.5040, 0.5774, 0.3516, 0.3446, (97, 984), (3989, 4007)),
    "NumericalSVT": Published(0.0343, 0.0345, None, None, (152, 686), None),
}

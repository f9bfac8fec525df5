"""Posteriors held against simulated truth: `make bench-bayes`.

Parameters are drawn from the prior, people from the model, and the noise by our own laws from the real source; the
posterior is computed from the noisy integers alone. **Coverage** is that of equal-tailed 95 % intervals, with its
standard error between runs; for whole numbers of the table it is held against the mean posterior mass of the printed
intervals, which is above 95 %. **KS p** is Kolmogorov's and Smirnov's test of the rank of the truth, ties shared at
random, for one group of each run. **Naive** takes the noisy number for the true one; **Wald** adds the variance of the
noise to that of the sample. Runs whose draws failed their diagnostics count as not covering. Times are CPU time. Part
by part: `python -m benchmarks.bayes.run --only "small areas"`; with a folder in `BAYES_PARTS`, a long part that was
stopped goes on where it was.

**The sketch** that the room was planned with, noise by numpy, had: shares of one count .945 to .959, naive .098 to
.951, Wald .925 to .955; tables of cells .934 to .959; two answers .951 and .954, as two samples .865 and .889; the
largest of 20 groups .951, by `answer.intervals` .852; logistic .942 and .948, naive .868; areas .955, hyperparameters
.943, naive .858, error .67 of direct; normal mean .94 in 239 runs, Laplace noise .93 to .97 in 91, unclipped .57, naive
.72; regression .92 to .98 in 61 to 128 runs, naive slopes .05 to .29.
"""

from __future__ import annotations

import os
import sys

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

from benchmarks.common.bars import run, section

SECTIONS = {
    "shares from one count": section("benchmarks.bayes.counts", "beta_binomial"),
    "tables of cells": section("benchmarks.bayes.counts", "cells"),
    "small tables, summed over": section("benchmarks.bayes.direct", "sums"),
    "large tables": section("benchmarks.bayes.counts", "large"),
    "two answers about one count": section("benchmarks.bayes.counts", "shared"),
    "the largest of 20 groups": section("benchmarks.bayes.groups", "largest"),
    "logistic regression": section("benchmarks.bayes.groups", "logistic"),
    "small areas": section("benchmarks.bayes.groups", "small_areas"),
    "normal, Gaussian noise": section("benchmarks.bayes.sums", "gaussian"),
    "normal, Laplace noise": section("benchmarks.bayes.sums", "laplace"),
    "without clipping in the model": section("benchmarks.bayes.sums", "unclipped"),
    "linear regression": section("benchmarks.bayes.regression", "linear"),
    "regression, rows unknown": section("benchmarks.bayes.regression", "unknown_people"),
    "regression, Laplace noise": section("benchmarks.bayes.regression", "laplace"),
    "regression, five predictors": section("benchmarks.bayes.regression", "five_predictors"),
    "times": section("benchmarks.bayes.counts", "times"),
    "A/B from an answer": section("benchmarks.bayes.released", "times"),
    "the ledger": section("benchmarks.bayes.released", "ledger"),
    "the referee": section("benchmarks.bayes.referee", "rows"),
    "one posterior draw": section("benchmarks.bayes.referee", "one_draw"),
}


def main() -> int:
    """Run everything, print the tables, and write the page if asked; falling short of a bar is not a failure."""
    return run(SECTIONS, page="bench-bayes", title="Posteriors, measured", document=__doc__ or "")


if __name__ == "__main__":
    sys.exit(main())

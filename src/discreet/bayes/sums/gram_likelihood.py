"""Noisy sums of products of normal rows, and their likelihood: quadratic forms of a normal vector, added up.

A row t = (1, v) with v ~ N(mu, S), S = L L', adds the quadratic forms t' B_k t to the entries. Of n rows the entries
have the mean n tr(B_k R), R = E t t', and the covariance n (2 tr(B_k S B_l S) + 4 m' B_k S B_l m), m = (1, mu), S
bordered by zeros (Isserlis). With G_k = L' B_k L and h_k = L' B_k m this is n F F', the row k of F holding sqrt 2 G_ii,
2 G_ij for i < j, and 2 h_i: d (d + 3) / 2 columns. The sums are taken as normal (see `skewness`), so that with normal
noise of covariance I

    entries ~ N(n E, I + n F F').

Laplace noise of scale b is a normal of variance 2 b^2 w, w exponential (Andrews, Mallows 1974): with an unknown w an
entry (see `mixed_normal`) the rest is as before.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.sums.mixed_normal import log_normal
from discreet.errors import InputError
from discreet.mechanisms.noise import GaussianNoise
from discreet.statistics.measurement import Measurement, Products
from discreet.statistics.moments import Region

Floats = NDArray[np.float64]
_NEAR, _FAR = 3.0, 4.0  # deviations between rows and their bounds


@dataclass(frozen=True, slots=True, eq=False)
class GramLikelihood:
    """The likelihood of noisy Gram entries given n and the law of v: columns in the order of `names`.

    `forms` holds B_k in units of the noise's scale, (entries, d + 1, d + 1); `released` likewise. Positions are
    (value - center) / halves.
    """

    names: tuple[str, ...]
    center: Floats
    halves: Floats
    ball: bool
    constant: float
    forms: Floats
    released: Floats
    normal: NDArray[np.bool_]
    log_scale: float

    @classmethod
    def of(cls, measurements: Sequence[Measurement], names: Sequence[str], constant: str) -> GramLikelihood:
        """Read entries about the same rows, the columns in the order of names, one of them constant at 1."""
        forms: list[Floats] = []
        released: list[float] = []
        normal: list[bool] = []
        log_scale = 0.0
        for one in measurements:
            adds_up = one.plan.adds_up
            if not isinstance(adds_up, Products):
                continue
            scale = float(one.plan.noise.scale)
            forms.append(_forms(adds_up, names, constant) / scale)
            released.extend(float(entry[0]) / scale for entry in one.released)
            normal.extend([isinstance(one.plan.noise, GaussianNoise)] * adds_up.entries)
            log_scale += math.log(scale) * adds_up.entries
            last = adds_up
        places = [last.columns.index(name) for name in names]
        center, halves = np.array(last.center)[places], np.array(last.halves)[places]
        at = last.columns.index(constant)
        fixed = (1.0 - last.center[at]) / last.halves[at]
        return cls(
            tuple(names),
            center,
            halves,
            last.ball,
            fixed,
            np.concatenate(forms),
            np.array(released),
            np.array(normal),
            log_scale,
        )

    @property
    def latent(self) -> int:
        """How many mixing variables there are: one for each entry with Laplace noise."""
        return int((~self.normal).sum())

    def people(self) -> tuple[float, float] | None:
        """Return the number of rows by least squares, with its deviation; None where no combination tells it."""
        rows, columns = np.triu_indices(self.forms.shape[1])
        table = self.forms[:, rows, columns] * np.where(rows == columns, 1.0, 2.0)
        inverse = np.linalg.pinv(table, rcond=1e-9)[0]
        if np.abs(inverse @ table - np.eye(len(rows))[0]).max() > 1e-6:
            return None
        return float(inverse @ self.released), float(
            np.linalg.norm(inverse * np.where(self.normal, 1.0, math.sqrt(2.0)))
        )

    def at(self, mean: Floats, root: Floats, people: Floats, log_mixing: Floats) -> Floats:
        """Return ln of the likelihood at means (d, points), Cholesky factors (d, d, points), people and mixing."""
        expected, factor = self._moments(mean, root)
        residual = self.released[:, np.newaxis] - people * expected
        factor *= np.sqrt(people)
        spread = np.zeros(people.shape)
        if log_mixing.shape[1]:
            deviation = np.ones(residual.shape)
            deviation[~self.normal] = math.sqrt(2.0) * np.exp(0.5 * log_mixing.T)
            residual, factor = residual / deviation, factor / deviation[:, np.newaxis]
            spread = np.log(deviation).sum(axis=0)
        return np.asarray(log_normal(residual, factor) - spread - self.log_scale)

    def _moments(self, mean: Floats, root: Floats) -> tuple[Floats, Floats]:
        """Return what a row adds on average, (entries, points), and the factor of its covariance.

        Points are the last axis of all arrays, so that each step is one pass over many of them.
        """
        size, points = mean.shape
        entries = len(self.forms)
        one, other = np.triu_indices(size)
        packed = self.forms[:, 1 + one, 1 + other]
        turned = (packed @ _turning(root).reshape(one.size, -1)).reshape(entries, one.size, points)  # L' B_k L
        bordered = np.concatenate([np.ones((1, points)), mean])
        sloped = (self.forms.reshape(-1, size + 1) @ bordered).reshape(entries, size + 1, points)
        factor = np.empty((entries, one.size + size, points))
        factor[:, : one.size] = turned * np.where(one == other, math.sqrt(2.0), 2.0)[:, np.newaxis]
        for column in range(size):
            factor[:, one.size + column] = 2.0 * np.einsum("kan,an->kn", sloped[:, 1 + column :], root[column:, column])
        trace = np.einsum("kin->kn", turned[:, one == other])
        return np.einsum("kan,an->kn", sloped, bordered) + trace, factor

    def row_entries(self, rows: Floats) -> Floats:
        """Return what rows at positions (rows, d) add to the entries."""
        bordered = np.concatenate([np.ones((len(rows), 1)), rows], axis=1)
        products = np.einsum("ra,rb->rab", bordered, bordered).reshape(len(rows), -1)
        return np.asarray(products @ self.forms.reshape(len(self.forms), -1).T)


def _forms(adds_up: Products, names: Sequence[str], constant: str) -> Floats:
    """Return the symmetric matrices of the entries, for t = (1, positions of the named columns)."""
    places = {adds_up.columns.index(name): place + 1 for place, name in enumerate(names)}
    at = adds_up.columns.index(constant)
    fixed = (1.0 - adds_up.center[at]) / adds_up.halves[at]
    unit = float(adds_up.steps) ** 2
    forms = np.zeros((adds_up.entries, len(names) + 1, len(names) + 1))
    for entry, (alone, terms) in enumerate(adds_up.terms):
        forms[entry, 0, 0] += alone
        for one, other, multiplier in terms:
            height = multiplier * unit * (fixed if one == at else 1.0) * (fixed if other == at else 1.0)
            first, second = places.get(one, 0), places.get(other, 0)
            forms[entry, first, second] += height / 2.0
            forms[entry, second, first] += height / 2.0
    return forms


def _turning(root: Floats) -> Floats:
    """Return the map from the upper triangle of B to that of L' B L, (pairs, pairs, points), L lower triangular."""
    size, points = root.shape[0], root.shape[2]
    one, other = np.triu_indices(size)
    found = np.zeros((one.size, one.size, points))
    for row, (a, b) in enumerate(zip(one.tolist(), other.tolist(), strict=True)):
        for column, (i, j) in enumerate(zip(one.tolist(), other.tolist(), strict=True)):
            if i <= a and j <= b:
                found[row, column] += root[a, i] * root[b, j]
            if a != b and i <= b and j <= a:
                found[row, column] += root[b, i] * root[a, j]
    return found


def exact_sums(adds_up: Products, columns: Mapping[str, Floats]) -> NDArray[Any]:
    """Return what rows add up to, clipped and rounded as a release does it, exactly: (entries, 1)."""
    region = Region(adds_up.center, adds_up.halves, adds_up.ball, adds_up.steps)
    gram = region.gram([columns[name] for name in adds_up.columns], None)
    found = [
        constant * gram.present + sum(multiplier * gram.products[one, other] for one, other, multiplier in terms)
        for constant, terms in adds_up.terms
    ]
    return np.array([[int(value)] for value in found], dtype=object)


def clipping_note(likelihood: GramLikelihood, mean: Floats, root: Floats) -> str | None:
    """Say how near a bound is, or refuse where the rows cannot be taken as unclipped.

    In a ball the squared norm of a row counts, whose square root has a deviation of at most that of the row's widest
    direction: the norm is a function of the row that moves by no more than the row.
    """
    if likelihood.ball:
        widest = float(np.linalg.norm(root, 2))
        middle = math.sqrt(likelihood.constant**2 + float((mean**2).sum() + (root**2).sum()))
        room = (1.0 - middle) / widest
        name = "a row"
    else:
        rooms = (1.0 - np.abs(mean)) / np.sqrt((root**2).sum(axis=1))
        room, name = float(rooms.min()), likelihood.names[int(rooms.argmin())]
    if room >= _FAR:
        return None
    if room >= _NEAR:
        return f"{name} comes within {room:.1f} deviations of its bounds: rows are taken as unclipped"
    raise InputError(
        f"rows must be clipped hardly ever for this model, with bounds at least {_NEAR:g} deviations away; got {name} "
        f"with {room:.1f} at the posterior mean, release the products with wider bounds"
    )

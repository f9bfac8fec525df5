"""Features of images by fixed wavelets: averages of how strongly edges of every size and direction occur, and where.

An image goes through two layers of Morlet wavelets with moduli between them (a scattering transform of order 2), is
averaged over a coarse grid of places, and is then centered and evened out by what made-up strokes look like. Nothing
is learnt: every number of the map follows from the size of the images and a public seed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.display import format_number
from discreet.errors import InputError
from discreet.learning.base import whole_number
from discreet.learning.deep.recipes.one_hot import stated_ends
from discreet.learning.features import uniform_numbers

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]
DIRECTIONS, CELLS = 8, 4
CHANNELS = 1 + 2 * DIRECTIONS + DIRECTIONS**2
LEAST_SIDE, MOST_SIDE, MOST_COLORS = 4, 256, 16
_LEAST_GRID = 16
_WIDTH, _WAVE, _SLANT = 0.8, 3 * math.pi / 4, 4 / DIRECTIONS  # of the finest wavelets, in pixels and radians a pixel
_WINDOW = 0.27  # the deviation of an average, in cells
_FLOOR = 1e-4  # added before roots are taken: a jump of gray by 1 makes about 0.1
_STROKES = 1500
_EVENNESS = 3.0  # directions that vary less than this many times the mean one count as if they varied as much
_FINE = 4  # points of a pixel in each direction, where images are small
_MOST_CURVES, _POINTS = 3, 24
_NUMBERS = 2 + 6 * _MOST_CURVES
CONSTANT = 0.1  # the last column, before rows are scaled: it takes the place of an intercept


@dataclass(frozen=True)
class Scattering:
    """Map square images to 81 features a color at each of 4 x 4 places, rows of norm 1.

    An image is `side` x `side` numbers, or those of `colors` channels one after another. Smaller images are enlarged,
    others are put on an empty grid whose side is a power of 2. A row with a number that is not finite becomes NaN,
    which a private training leaves out.

    Args:
        side: how many pixels an image has across, and down.
        colors: how many channels an image has.
        bounds: the numbers of empty paper and of full ink, such as (0, 16); numbers outside are cut. (0, 1) if left
            out, and (0, 255) for a whole array of bytes; a list of images of bytes needs bounds=(0, 255).
        seed: which made-up strokes the features are evened out on.

    Privacy. The map costs nothing: a row's features are a function of that row and of public numbers.
        Proof: images are mapped one at a time by the same operations on arrays of the same shape, with filters and
        averages that follow from `side` and `seed`.
    Cost. About 1.5 milliseconds an image of 28 x 28; the first call for a size maps 1,500 made-up images too.
    Reference. Bruna, Mallat 2013 (scattering); Tramer, Boneh 2021 (its use for private learning).

    >>> images = np.zeros((2, 8, 8))
    >>> images[1, 2:6, 3] = 1
    >>> features = Scattering(side=8)(images)
    >>> features.shape, bool(np.allclose((features**2).sum(axis=1), 1))
    ((2, 1297), True)
    """

    side: int
    colors: int = 1
    seed: int = 1
    bounds: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        whole_number(self.side, name="side", least=LEAST_SIDE, most=MOST_SIDE)
        whole_number(self.colors, name="colors", least=1, most=MOST_COLORS)
        whole_number(self.seed, name="seed", least=0, most=2**63 - 1)
        if self.bounds is not None:
            object.__setattr__(self, "bounds", stated_ends(self.bounds))

    @property
    def width(self) -> int:
        """How many features a row has."""
        return self.colors * CHANNELS * CELLS**2 + 1

    @property
    def told(self) -> str:
        """The map in words."""
        colors = "" if self.colors == 1 else f" of {self.colors} colors"
        low, high = ("0", "1 (bytes: 255)") if self.bounds is None else map(format_number, self.bounds)
        return (
            f"scattering of {self.side} x {self.side} images{colors}, numbers from {low} to {high}: "
            f"{CHANNELS} channels at {CELLS} x {CELLS} places, "
            "square roots, centered and evened out on made-up strokes, rows of norm 1"
        )

    def __call__(self, images: Any) -> NDArray[np.float32]:
        """Return the features of images, one row an image."""
        read = self._read(images)
        center, evening = _standard(self.side, self.seed)
        features = np.empty((len(read), self.width), dtype=np.float32)
        row = np.empty(self.width)
        row[-1] = CONSTANT
        for image, out in zip(read, features, strict=True):
            parts = [evening @ (_rooted(_embedded(one, self.side)) - center) for one in image]
            row[:-1] = np.concatenate(parts)
            row[:-1] /= math.sqrt(float(np.square(row[:-1]).sum())) or 1.0
            out[:] = row / math.sqrt(1 + CONSTANT**2)
        features[~np.isfinite(read).all(axis=(1, 2, 3))] = np.nan
        return features

    def _read(self, images: Any) -> Floats:
        """Return images as an array of people, colors, rows and columns; what is none in a list of them is NaN."""
        shape = (self.colors, self.side, self.side)
        try:
            given = images if isinstance(images, list | tuple) else np.asarray(images)
            if isinstance(given, list | tuple) or (given.dtype == object and given.ndim):
                each = [_image(one, shape) for one in given]
                return self._scaled(np.stack(each)) if each else np.empty((0, *shape))
            if given.dtype.kind not in "buif":
                raise TypeError("no real numbers")
            read = self._scaled(given.astype(np.float64), given.dtype == np.uint8)
        except (TypeError, ValueError, OverflowError):
            raise InputError("images must be an array of numbers; got another, write one from 0 to 1") from None
        if read.ndim < 2 or math.prod(read.shape[1:]) != math.prod(shape):
            raise InputError(
                f"images must have {self.colors} x {self.side} x {self.side} numbers each; got another shape, write "
                "Scattering(side=...) for their size"
            )
        return read.reshape(len(read), *shape)

    def _scaled(self, read: Floats, of_bytes: bool = False) -> Floats:
        """Return numbers from 0 to 1 where images keep the bounds; the type of a whole array says that it is bytes."""
        if self.bounds is None:
            return read / 255 if of_bytes else read
        low, high = self.bounds
        with np.errstate(all="ignore"):
            return np.asarray((read - low) / (high - low))


def _grid(side: int) -> int:
    """Return the side of the grid that wavelets live on: a power of 2."""
    return max(_LEAST_GRID, 1 << (side - 1).bit_length())


def _embedded(image: Floats, side: int) -> Floats:
    """Return an image on the grid: enlarged by a whole factor where it fits, in the middle, on empty paper."""
    size = _grid(side)
    factor = size // side
    kept = np.clip(np.where(np.isfinite(image), image, 0.0), 0.0, 1.0)
    if factor > 1:
        spread = _enlarging(side, factor)
        kept = spread @ kept @ spread.T
    start = (size - side * factor) // 2
    out = np.zeros((size, size))
    out[start : start + side * factor, start : start + side * factor] = kept
    return out


@lru_cache(maxsize=16)
def _enlarging(side: int, factor: int) -> Floats:
    """Return the matrix that draws straight lines between the middles of pixels."""
    at = np.clip((np.arange(side * factor) + 0.5) / factor - 0.5, 0, side - 1)
    return np.asarray(np.maximum(0.0, 1 - np.abs(at[:, np.newaxis] - np.arange(side))))


def _image(given: Any, shape: tuple[int, ...]) -> Floats:
    """Return one image of a list, NaN where it is not one: whether it is concerns one person, and stops no other."""
    try:
        real = not np.iscomplexobj(given)
        read = np.asarray(given if real else np.nan, dtype=np.float64)
        return read.reshape(shape) if read.ndim else np.full(shape, np.nan)
    except Exception:  # whatever a foreign object raises
        return np.full(shape, np.nan)


def _rooted(image: Floats) -> Floats:
    """Return the square roots of the scattering of one image on its grid."""
    fine, coarse = _wavelets(len(image))
    windows = _windows(len(image))
    waves = np.fft.fft2(image)
    first = _modulus(np.fft.ifft2(waves * fine))
    second = _modulus(np.fft.ifft2(waves * coarse))
    third = _modulus(np.fft.ifft2(np.fft.fft2(first)[:, np.newaxis] * coarse))
    layers = np.concatenate([image[np.newaxis], first, second, third.reshape(-1, *image.shape)])
    return np.asarray(np.sqrt(windows @ layers @ windows.T + _FLOOR).ravel())


def _modulus(waves: Complexes) -> Floats:
    """Return the moduli, from products, sums and roots that every processor rounds alike."""
    return np.asarray(np.sqrt(waves.real * waves.real + waves.imag * waves.imag))


@lru_cache(maxsize=8)
def _wavelets(size: int) -> tuple[Complexes, Complexes]:
    """Return the Fourier transforms of fine and coarse wavelets, one a direction."""
    angles = [math.pi * place / DIRECTIONS for place in range(DIRECTIONS)]
    fine, coarse = (np.stack([_morlet(size, scale, angle) for angle in angles]) for scale in (1, 2))
    return fine, coarse


def _morlet(size: int, scale: int, angle: float) -> Complexes:
    """Return the Fourier transform of a wave under a bell, less as much of the bell as makes its mean 0."""
    width, frequency = _WIDTH * scale, _WAVE / scale
    wave, bell = np.zeros((size, size), dtype=np.complex128), np.zeros((size, size))
    for turn_down in (-1, 0, 1):  # what leaves the grid on one side comes back on the other
        for turn_across in (-1, 0, 1):
            down, across = np.mgrid[0:size, 0:size] - size / 2.0
            down, across = down + turn_down * size, across + turn_across * size
            along = across * math.cos(angle) + down * math.sin(angle)
            beside = down * math.cos(angle) - across * math.sin(angle)
            one = np.exp(-(along**2 + (_SLANT * beside) ** 2) / (2 * width**2))
            bell += one
            wave += one * np.exp(1j * frequency * along)
    made = (wave - wave.sum() / bell.sum() * bell) * _SLANT / (2 * math.pi * width**2)
    return np.fft.fft2(np.fft.ifftshift(made))


@lru_cache(maxsize=8)
def _windows(size: int) -> Floats:
    """Return the weights of averages about evenly spaced middles, one row a cell."""
    cell = size / CELLS
    middles = (np.arange(CELLS) + 0.5) * cell - 0.5
    bells = np.exp(-((np.arange(size) - middles[:, np.newaxis]) ** 2) / (2 * (_WINDOW * cell) ** 2))
    return np.asarray(bells / bells.sum(axis=1, keepdims=True))


@lru_cache(maxsize=4)
def _standard(side: int, seed: int) -> tuple[Floats, Floats]:
    """Return the mean of made-up images, and the matrix that evens out the directions in which they vary."""
    made = np.stack([_rooted(_embedded(one, side)) for one in strokes(_STROKES, side, seed)])
    center = made.mean(axis=0)
    lengths, directions = np.linalg.eigh(np.cov((made - center).T))
    lengths = np.maximum(lengths, 0.0)
    scaled = directions / np.sqrt(lengths + _EVENNESS * lengths.mean())
    return center, scaled @ directions.T


def strokes(count: int, side: int, seed: int) -> Floats:
    """Return images from 0 (paper) to 1 (ink): one to three curves each, drawn by a soft pen of some width.

    >>> made = strokes(3, 8, seed=1)
    >>> made.shape, float(made.min()) >= 0, float(made.max()) <= 1
    ((3, 8, 8), True, True)
    """
    numbers = uniform_numbers(seed, b"strokes", count * _NUMBERS).reshape(count, _NUMBERS)
    return np.stack([_drawn(one, side) for one in numbers])


def _drawn(numbers: Floats, side: int) -> Floats:
    """Return one image."""
    curves = 1 + int(numbers[0] * _MOST_CURVES)
    width = 0.03 + 0.03 * numbers[1]
    corners = 0.15 + 0.7 * numbers[2 : 2 + 6 * curves].reshape(curves, 3, 1, 2)
    along = np.linspace(0, 1, _POINTS)[:, np.newaxis]
    points = (1 - along) ** 2 * corners[:, 0] + 2 * along * (1 - along) * corners[:, 1] + along**2 * corners[:, 2]
    fine = _FINE if side < 16 else 1
    places = (np.arange(side * fine) + 0.5) / (side * fine)
    down = (points[:, :, 1].reshape(-1, 1) - places) ** 2
    across = (points[:, :, 0].reshape(-1, 1) - places) ** 2
    distance = np.sqrt((down[:, :, np.newaxis] + across[:, np.newaxis, :]).min(axis=0))
    ink = np.clip(1.5 - distance / width, 0, 1)
    return np.asarray(ink.reshape(side, fine, side, fine).mean(axis=(1, 3)))

"""Writing that nobody wrote: small images of digits and letters, and messages on several topics, each with a class."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.data.table import Column, InventedTable, check_whole, drawn, generator
from discreet.errors import ParameterError

MOST_SIDE, MOST_PIXELS = 256, 1 << 30
MOST_TOPICS, MOST_WORDS = 64, 10_000

Point = tuple[float, float]
_POINTS = 48  # of one glyph, along its strokes
_CHUNK = 1 << 22  # distances that are held at a time
_COMMON = ("the", "of", "and", "to", "in", "is", "it", "that", "was", "for", "on", "with", "as", "this", "not", "but")
_SYLLABLES = ("ba", "ko", "mi", "lu", "ter", "san", "vo", "ri", "den", "pa", "gul", "ne", "tor", "fi", "ma", "cle")
_SHARED, _OWN = 120, 60  # words that all topics use, and words of one topic
_COMMONNESS, _TOPICALITY, _ECHO = 0.45, 0.35, 0.3


def _arc(center: Point, radius: Point, start: float, end: float) -> tuple[Point, ...]:
    """Return points of an ellipse between two angles in degrees; 0 is to the right and 90 is down."""
    angles = np.radians(np.linspace(start, end, 13))
    return tuple((center[0] + radius[0] * math.cos(a), center[1] + radius[1] * math.sin(a)) for a in angles.tolist())


# strokes in a square of side 1, (0, 0) at the upper left
_STROKES: dict[str, tuple[tuple[Point, ...], ...]] = {
    "0": (_arc((0.5, 0.5), (0.28, 0.4), 0, 360),),
    "1": (((0.36, 0.25), (0.52, 0.1), (0.52, 0.9)),),
    "2": ((*_arc((0.5, 0.32), (0.26, 0.22), -170, 40), (0.24, 0.9), (0.78, 0.9)),),
    "3": (_arc((0.46, 0.3), (0.27, 0.2), -150, 90), _arc((0.46, 0.7), (0.3, 0.2), -90, 150)),
    "4": (((0.64, 0.9), (0.64, 0.1), (0.2, 0.64), (0.82, 0.64)),),
    "5": (((0.74, 0.1), (0.32, 0.1), (0.29, 0.46)), _arc((0.47, 0.66), (0.29, 0.24), -130, 150)),
    "6": (((0.66, 0.1), (0.38, 0.36), (0.26, 0.66)), _arc((0.5, 0.68), (0.25, 0.22), 0, 360)),
    "7": (((0.2, 0.12), (0.8, 0.12), (0.42, 0.9)),),
    "8": (_arc((0.5, 0.3), (0.22, 0.19), 0, 360), _arc((0.5, 0.7), (0.27, 0.21), 0, 360)),
    "9": (_arc((0.5, 0.32), (0.25, 0.22), 0, 360), ((0.75, 0.32), (0.66, 0.9))),
    "A": (((0.16, 0.9), (0.5, 0.1), (0.84, 0.9)), ((0.3, 0.6), (0.7, 0.6))),
    "C": (_arc((0.54, 0.5), (0.32, 0.4), -50, -310),),
    "E": (((0.76, 0.1), (0.26, 0.1), (0.26, 0.9), (0.76, 0.9)), ((0.26, 0.5), (0.66, 0.5))),
    "H": (((0.22, 0.1), (0.22, 0.9)), ((0.78, 0.1), (0.78, 0.9)), ((0.22, 0.5), (0.78, 0.5))),
    "K": (((0.26, 0.1), (0.26, 0.9)), ((0.78, 0.1), (0.26, 0.54), (0.8, 0.9))),
    "L": (((0.28, 0.1), (0.28, 0.9), (0.78, 0.9)),),
    "T": (((0.16, 0.12), (0.84, 0.12)), ((0.5, 0.12), (0.5, 0.9))),
    "X": (((0.2, 0.1), (0.8, 0.9)), ((0.8, 0.1), (0.2, 0.9))),
}
CHARACTERS = "".join(_STROKES)


@dataclass(frozen=True, eq=False, repr=False)
class Glyphs:
    """Gray images, a square of bytes a person, 0 for paper and 255 for ink; a label is a place in `characters`."""

    images: npt.NDArray[np.uint8]
    labels: npt.NDArray[np.int64]
    characters: str

    def __post_init__(self) -> None:
        for name in ("images", "labels"):
            array = np.array(getattr(self, name))
            array.flags.writeable = False
            object.__setattr__(self, name, array.view())

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        side = self.images.shape[1]
        return f"Glyphs({len(self):,} images of {side} x {side}, synthetic; characters {self.characters})"


@dataclass(frozen=True, eq=False, repr=False)
class Messages(InventedTable):
    """One row a message: its words with spaces between them, and its topic, numbered from 0."""

    text: Column
    topic: Column


def glyphs(*, people: int, seed: int, side: int = 28, characters: str = "0123456789", noise: float = 0.1) -> Glyphs:
    """Return one image of a character by each of `people` invented people; the same seed gives the same images.

    Every character is a few strokes, moved, turned, sheared, stretched and drawn by a pen of some width; `noise` is the
    standard deviation of gray that is added to each pixel, 1 being black.

    The draws come from numpy's default generator: fine for invented people, never for noise that protects.

    Cost. About a tenth of a second for 1000 images of 28 x 28.

    >>> glyphs(people=20, seed=7, characters="017")
    Glyphs(20 images of 28 x 28, synthetic; characters 017)
    """
    random = generator(people, seed)
    check_whole("side", side, low=4, high=MOST_SIDE)
    if not isinstance(characters, str) or not characters or set(characters) - set(_STROKES):
        raise ParameterError(f"characters must be some of {CHARACTERS}", parameter="characters")
    if isinstance(noise, bool) or not isinstance(noise, int | float) or not 0 <= noise <= 1:
        raise ParameterError("noise must be a number from 0 to 1", parameter="noise")
    if people * side * side > MOST_PIXELS:
        raise ParameterError(f"people times pixels must be at most {MOST_PIXELS:,}", parameter="people")
    labels = random.integers(0, len(characters), people)
    shapes = np.stack([_along(_STROKES[one]) for one in characters])
    places = _moved(random, shapes[labels])
    width = random.uniform(0.035, 0.065, people)
    images = np.empty((people, side, side), dtype=np.uint8)
    step = max(_CHUNK // (_POINTS * side * side), 1)
    for start in range(0, people, step):
        part = slice(start, start + step)
        ink = _ink(places[part], width[part], side)
        gray = ink + random.normal(0, noise, ink.shape) if noise else ink
        images[part] = np.rint(np.clip(gray, 0, 1) * 255).astype(np.uint8)
    return Glyphs(images, labels, characters)


def _along(strokes: tuple[tuple[Point, ...], ...]) -> npt.NDArray[np.float64]:
    """Return points spread evenly over the length of the strokes, about the middle of the square."""
    starts = np.array([one for stroke in strokes for one in stroke[:-1]])
    ends = np.array([one for stroke in strokes for one in stroke[1:]])
    lengths = np.hypot(*(ends - starts).T)
    reached = np.concatenate([[0.0], np.cumsum(lengths)])
    at = (np.arange(_POINTS) + 0.5) / _POINTS * reached[-1]
    piece = np.searchsorted(reached, at, side="right") - 1
    part = ((at - reached[piece]) / lengths[piece])[:, np.newaxis]
    return np.asarray(starts[piece] + part * (ends - starts)[piece] - 0.5)


def _moved(random: np.random.Generator, points: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Turn, shear, stretch and shift the points of every glyph by chance."""
    people = len(points)
    angle, shear = random.normal(0, 0.12, people), random.normal(0, 0.15, people)
    across, down = random.uniform(0.6, 0.85, people), random.uniform(0.65, 0.85, people)
    x = across[:, None] * (points[:, :, 0] + shear[:, None] * points[:, :, 1])
    y = down[:, None] * points[:, :, 1]
    cosine, sine = np.cos(angle)[:, None], np.sin(angle)[:, None]
    turned = np.stack([cosine * x - sine * y, sine * x + cosine * y], axis=2)
    return np.asarray(turned + random.uniform(0.45, 0.55, (people, 1, 2)))


def _ink(places: npt.NDArray[np.float64], width: npt.NDArray[np.float64], side: int) -> npt.NDArray[np.float64]:
    """Return how black each pixel is: fully on a stroke, less and less within a pen's width of it."""
    centers = (np.arange(side) + 0.5) / side
    across = (places[:, :, 0, None] - centers) ** 2
    down = (places[:, :, 1, None] - centers) ** 2
    nearest = (down[:, :, :, None] + across[:, :, None, :]).min(axis=1)
    soft = np.maximum(width, 0.6 / side)[:, None, None]
    return np.asarray(np.clip(1.6 - np.sqrt(nearest) / soft, 0, 1))


def messages(*, people: int, seed: int, topics: int = 4, words: int = 40) -> Messages:
    """Return one message by each of `people` invented people; the same seed gives the same messages.

    Words are drawn one after another: common words of English, made-up words that all topics use, and made-up words of
    the topic, the r-th of a kind with weight 1 / (r + 3). After a made-up word, its own successor follows with chance
    0.3, so that pairs of words tell more than words alone. A message has half to one and a half times `words` words.

    The draws come from numpy's default generator: fine for invented people, never for noise that protects.

    >>> table = messages(people=30, seed=7, topics=2)
    >>> table
    Messages(30 rows, synthetic; columns text, topic)
    """
    random = generator(people, seed)
    check_whole("topics", topics, low=1, high=MOST_TOPICS)
    check_whole("words", words, low=2, high=MOST_WORDS)
    topic = random.integers(0, topics, people)
    length = random.integers(words - words // 2, words + words // 2 + 1, people)
    vocabulary = np.array([*_COMMON, *_made_up(random, _SHARED + topics * _OWN)])
    sizes = np.array([len(_COMMON), _SHARED, _OWN])
    weights = np.where(np.arange(_SHARED) < sizes[:, None], 1 / (np.arange(_SHARED) + 3.0), 0.0)
    chances = np.array([[_COMMONNESS, 1 - _COMMONNESS - _TOPICALITY, _TOPICALITY]])
    first = np.stack([np.zeros_like(topic), np.full_like(topic, sizes[0]), sizes[0] + sizes[1] + topic * _OWN])
    everyone = np.arange(people)
    kind, place = np.zeros_like(topic), np.zeros_like(topic)
    codes = np.empty((people, int(length.max())), dtype=np.int64)
    for column in codes.T:
        follows = (random.random(people) < _ECHO) & (kind > 0)
        kind = np.where(follows, kind, drawn(random, chances, np.zeros_like(topic)))
        place = np.where(follows, (place + 1) % sizes[kind], drawn(random, weights, kind))
        column[:] = first[kind, everyone] + place
    texts = [" ".join(vocabulary[line[:count]].tolist()) for line, count in zip(codes, length, strict=True)]
    return Messages(np.array(texts), topic)


def _made_up(random: np.random.Generator, count: int) -> list[str]:
    """Return different made-up words of three syllables."""
    size = len(_SYLLABLES)
    every = random.permutation(size**3)[:count]
    parts = [(one // size**2, one // size % size, one % size) for one in every.tolist()]
    return ["".join(_SYLLABLES[place] for place in part) for part in parts]

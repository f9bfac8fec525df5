"""Specs that every client of the local model must refuse, each with the reason; made from good ones by one change."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from discreet.local import DirectResponse, DuchiBit, HashedGeometry, HybridGeometry, HybridMean, ProjectiveGeometry
from discreet.local.heavy_hitters.protocol import HeavyHitters
from discreet.local.protocol.rational_coin import COIN_TOTAL, coin

ONE = Fraction(1)
Fields = dict[str, Any]


def refusals() -> list[dict[str, str]]:
    """Return the specs, with why each is refused."""
    made = [*_not_private(), *_not_consistent(), *_not_a_spec(), *_keys(), *_means()]
    return [{"why": why, "spec": text} for why, text in made]


def _direct() -> Fields:
    return _fields(DirectResponse(epsilon=ONE, categories=4))


def _space() -> Fields:
    return _fields(ProjectiveGeometry(epsilon=ONE, categories=13, prime=3, dimension=3))


def _hitters() -> Fields:
    return _fields(
        HeavyHitters(
            epsilon=ONE, keys="integer:26", people=9, prime=2, dimension=3, levels=(16, 26), rows=(2, 1, 1), seed=8
        )
    )


def _fields(spec: Any) -> Fields:
    fields: Fields = json.loads(spec.to_json())
    return fields


def _text(fields: Fields) -> str:
    return json.dumps(fields, sort_keys=True, separators=(",", ":"))


def _with(fields: Fields, **changes: Any) -> str:
    return _text({**fields, **changes})


def _derived(fields: Fields, **changes: Any) -> str:
    return _with(fields, derived={**fields["derived"], **changes})


def _not_private() -> Iterator[tuple[str, str]]:
    """Reports would tell more than epsilon allows."""
    for name, fields in (("randomized response", _direct()), ("projective geometry", _space()), ("keys", _hitters())):
        yield f"{name}: the coin is one too large", _derived(fields, coin=str(int(fields["derived"]["coin"]) + 1))
    yield "the coin is always heads", _derived(_direct(), coin=str(COIN_TOTAL))
    yield "the coin is always tails: a report says what the value is not", _derived(_direct(), coin=0)
    yield "the coin prefers the other outputs", _derived(_direct(), coin=str(COIN_TOTAL // 8))
    yield "the coin is that of a larger epsilon", _with(_direct(), epsilon="1/2")
    composite = {"cells": 21, "coin": str(coin(ONE, 5, 16)), "inside": 5}
    yield "the prime is composite, all else as if it were prime", _with(_space(), prime=4, derived=composite)
    hybrid = _fields(HybridGeometry(epsilon=ONE, categories=7, blocks=2, prime=3, dimension=2))
    yield (
        "cells and inside suit a larger coin",
        _with(hybrid, derived={"cells": 8, "coin": str(coin(ONE, 2, 6)), "inside": 2}),
    )


def _not_consistent() -> Iterator[tuple[str, str]]:
    """What is derived does not follow."""
    direct = _direct()
    yield "the coin is one too small", _derived(direct, coin=str(int(direct["derived"]["coin"]) - 1))
    yield "the coin is that of a smaller epsilon", _with(direct, epsilon="2")
    yield "cells are wrong", _derived(direct, cells=5)
    yield "inside is wrong", _derived(direct, inside=2)
    yield "derived has an unknown field", _derived(direct, outside=3)
    yield "derived is missing", _text({name: direct[name] for name in direct if name != "derived"})
    yield "a field is missing", _text({name: direct[name] for name in direct if name != "categories"})
    yield "a field is unknown", _with(direct, note="")
    yield "there are fewer names than cells", _with(direct, categories=["a", "b", "c"])
    yield "two names are the same", _with(direct, categories=["a", "b", "c", "c"])
    yield "there are more categories than points", _with(_space(), categories=14)
    yield "one category is no choice", _with(direct, categories=1)
    yield "one name is no choice", _with(direct, categories=["a"])


def _not_a_spec() -> Iterator[tuple[str, str]]:
    """What a reader of JSON must not let pass."""
    direct = _direct()
    good = _text(direct)
    yield "not JSON", good[:-1]
    yield "not an object", f"[{good}]"
    yield "a name occurs twice", good[:-1] + ',"version":2}'
    yield "epsilon is a float", good.replace('"epsilon":"1"', '"epsilon":1.0')
    yield "epsilon is a number", _with(direct, epsilon=1)
    for text in ("2/2", "01", "1e0", "1.0", "+1", " 1", "1/0", "0", "-1", "21", "1/1025", "inf"):
        yield f"epsilon is written as {text}", _with(direct, epsilon=text)
    yield "a long integer is written as a number", good.replace(f'"{direct["derived"]["coin"]}"', str(1 << 63))
    yield "a short integer is written as text", _with(direct, categories="4")
    yield "an integer is a truth value", _with(direct, version=True)
    yield "another version", _with(direct, version=1)
    yield "another format", _with(direct, format="discreet.central")
    yield "another protocol", _with(direct, protocol="trust-me")


def _keys() -> Iterator[tuple[str, str]]:
    """Keys, hashes and levels."""
    hashed = _fields(HashedGeometry(epsilon=ONE, keys="text:7", prime=3, dimension=3, rows=3, seed=1))
    yield "there are no such keys", _with(hashed, keys="number:7")
    yield "a size is written with a zero in front", _with(hashed, keys="text:07")
    yield "keys have a wrong number of words", _derived(hashed, words=4)
    yield "keys have categories", _with(hashed, categories=["a", "b"])
    yield "there are no rows", _with(hashed, rows=0)
    yield "the seed is too long", _with(hashed, seed=str(1 << 256))
    hitters = _hitters()
    seeds: list[str] = hitters["derived"]["seeds"]
    yield "the seed of a group is another", _derived(hitters, seeds=[*seeds[:2], seeds[1]])
    for levels in ([16], [26], [15, 26], [16, 16, 26], [26, 16]):
        yield f"levels are {levels}", _with(hitters, levels=levels, rows=[1] * (len(levels) + 1))
    yield "nobody is held out", _with(hitters, rows=[2, 2])


def _means() -> Iterator[tuple[str, str]]:
    """Ranges, grids and weights."""
    bit = _fields(DuchiBit(epsilon=ONE, bounds=(0, 1)))
    grid = _fields(HybridMean(epsilon=ONE, bounds=(0, 8), steps=4, window=3, weight=Fraction(5, 8)))
    yield "the coin of a bit is one too large", _derived(bit, coin=str(int(bit["derived"]["coin"]) + 1))
    first, second = grid["derived"]["coins"]
    yield "the first of two coins is one too large", _derived(grid, coins=[str(int(first) + 1), second])
    yield "the second of two coins is one too large", _derived(grid, coins=[first, str(int(second) + 1)])
    yield "a coin is missing", _derived(grid, coins=[first])
    yield "the range is empty", _with(bit, bounds=["0", "0"])
    yield "a bound is a float", _with(bit, bounds=["0", "0.5"])
    yield "there are three bounds", _with(bit, bounds=["0", "1", "2"])
    yield "the weight is no multiple of 2^-64", _with(grid, weight="1/3")
    yield "the weight is 0", _with(grid, weight="0")
    yield "the weight is above 1", _with(grid, weight="2")
    yield "the window is another", _with(grid, window=2)

"""What the code gives now is what tests/golden keeps: names, results on fixed random words, prices, plans and texts."""

from __future__ import annotations

import inspect
from collections.abc import Iterable

import pytest

from discreet import laws, mechanisms, privacy, randomness, statistics
from discreet.mechanisms import Mechanism
from tools.golden import FILES, difference, stored, text_of
from tools.golden.files import FOLDER


def concrete(room: object, *kinds: type) -> set[str]:
    """The public classes of a room that are of one of these kinds and can be made."""
    found = {name: getattr(room, name) for name in room.__all__}
    return {
        name
        for name, value in found.items()
        if isinstance(value, type) and issubclass(value, kinds) and not inspect.isabstract(value)
    }


def functions(room: object) -> set[str]:
    return {name for name in room.__all__ if inspect.isfunction(getattr(room, name))}


def drawing(room: object) -> set[str]:
    """The public classes of a room from which one can draw."""
    found = {name: getattr(room, name) for name in room.__all__}
    kinds = {name: value for name, value in found.items() if isinstance(value, type)}
    return {
        name
        for name, kind in kinds.items()
        if any(hasattr(kind, method) for method in ("sample", "draw", "run")) and not inspect.isabstract(kind)
    }


def missing(wanted: Iterable[str], file: str, exempt: dict[str, str]) -> set[str]:
    """The names that no line of a golden file begins with; what is exempt must be wanted and must be missing."""
    begun = {line.partition(":")[0].partition("/")[0] for line in stored(file).splitlines()}
    left = set(wanted) - begun
    assert set(exempt) <= left, "an exemption that is not needed"
    return left - set(exempt)


@pytest.mark.parametrize("name", FILES)
def test_what_the_code_gives_is_what_is_kept(name: str) -> None:
    told = difference(name, stored(name), text_of(list(FILES[name]())))
    assert not told, told


def test_every_file_that_is_kept_is_made() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(FILES)


def test_every_public_mechanism_has_its_lines() -> None:
    assert not missing(concrete(mechanisms, Mechanism), "mechanisms", {})


def test_every_public_statistic_has_its_lines() -> None:
    exempt = {"explain_sensitivity": "gives the lines that begin with sensitivity"}
    assert not missing(concrete(statistics, Mechanism) | functions(statistics), "statistics", exempt)


def test_every_public_law_has_its_lines() -> None:
    assert not missing(drawing(laws) | functions(laws), "laws", {})


def test_every_public_source_of_randomness_has_its_lines() -> None:
    assert not missing(randomness.__all__, "randomness", {})


def test_a_wider_noise_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    made = laws.DiscreteLaplace
    monkeypatch.setattr(laws, "DiscreteLaplace", lambda scale, center=0: made(scale + 1, center))
    told = difference("laws", stored("laws"), text_of(list(FILES["laws"]())))
    assert "DiscreteLaplace/scale 2/sample" in told
    assert "DiscreteGaussian/scale 10" not in told
    assert "make golden" in told


def test_another_signature_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def compose(losses: object) -> None:
        """Take no iterable of losses any more."""

    monkeypatch.setattr(privacy, "compose", compose)
    told = difference("names", stored("names"), text_of(list(FILES["names"]())))
    changed = [line for line in told.splitlines() if line.startswith(("-", "+")) and "compose" in line]
    assert "+discreet.privacy/compose: function (losses: object) -> None" in changed


def test_a_name_that_is_gone_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mechanisms, "__all__", [name for name in mechanisms.__all__ if name != "Top"])
    told = difference("names", stored("names"), text_of(list(FILES["names"]())))
    assert "-discreet.mechanisms/Top: class" in told


def test_nothing_is_told_where_nothing_differs() -> None:
    assert not difference("laws", stored("laws"), stored("laws"))


def test_two_lines_of_one_key_are_refused() -> None:
    with pytest.raises(ValueError, match="two lines"):
        text_of([("a", "1"), ("a", "2")])

"""What the code gives now is what tests/golden keeps: names, results on fixed random words, prices, plans and texts."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator

import click
import pytest

import discreet
from discreet import laws, local, mechanisms, privacy, randomness, statistics, synthesis
from discreet.cli import main
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


def test_every_public_protocol_has_its_lines() -> None:
    protocols = concrete(local, local.Spec)
    assert not missing(protocols, "local_wire", {})
    others = {"MemoizedClient", "OneBitClient", "Shuffled", "Schedule"}
    assert not missing(protocols | concrete(local, Mechanism) | functions(local) | others, "local_reports", {})


def test_every_published_vector_has_its_line() -> None:
    vectors = [line for line in stored("local_wire").splitlines() if line.startswith("vector/")]
    assert len(vectors) >= 13


def test_every_public_synthesizer_has_its_lines() -> None:
    exempt = {
        "error_curve": "repeats the releases of the methods above; drawn by tests/synthesis/reporting/test_report.py",
        "exact_response": "solved by a program of scipy, whose choice among equal optima is its own",
        "gap": "one subtraction",
        "upper_bound": "solved by a program of scipy",
    }
    assert not missing(concrete(synthesis, synthesis.Synthesizer) | functions(synthesis), "synthesis", exempt)


def test_every_command_has_its_help(monkeypatch: pytest.MonkeyPatch) -> None:
    def commands(group: click.Group, words: str) -> Iterator[str]:
        context = click.Context(group)
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            yield f"{words} {name}"
            if isinstance(command, click.Group):
                yield from commands(command, f"{words} {name}")

    programs: list[click.Group] = []
    monkeypatch.setattr(click.Group, "main", lambda group, **_: programs.append(group))
    main()
    kept = {line.removesuffix(" --help:") for line in stored("help").splitlines() if line.startswith("discreet")}
    assert set(commands(programs[0], "discreet")) <= kept


def test_no_file_names_a_folder_of_this_machine_or_the_module_of_a_class() -> None:
    module = re.compile(r"discreet(\.[a-z_]+)+\.[A-Z]\w*")
    for name in FILES:
        text = stored(name)
        assert str(FOLDER.parent.parent) not in text
        assert not module.search(text), name


def test_all_files_together_stay_readable() -> None:
    assert sum(len(stored(name)) for name in FILES) < 1_000_000


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

    assert discreet.compose is privacy.compose  # looked up now: a name that loads later would keep what stands here
    monkeypatch.setattr(privacy, "compose", compose)
    told = difference("names", stored("names"), text_of(list(FILES["names"]())))
    changed = [line for line in told.splitlines() if line.startswith(("-", "+")) and "compose" in line]
    assert "+discreet.privacy/compose: function (losses: object) -> None" in changed


def test_a_name_that_is_gone_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mechanisms, "__all__", [name for name in mechanisms.__all__ if name != "Top"])
    told = difference("names", stored("names"), text_of(list(FILES["names"]())))
    assert "-discreet.mechanisms/Top: class" in told


def test_a_class_that_is_defined_elsewhere_has_the_same_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in (mechanisms.Laplace, privacy.PrivacyLoss, statistics.EstimateTable, local.Spec):
        monkeypatch.setattr(kind, "__module__", "discreet.somewhere.quite.different")
    assert text_of(list(FILES["names"]())) == stored("names")


def test_nothing_is_told_where_nothing_differs() -> None:
    assert not difference("laws", stored("laws"), stored("laws"))


def test_two_lines_of_one_key_are_refused() -> None:
    with pytest.raises(ValueError, match="two lines"):
        text_of([("a", "1"), ("a", "2")])

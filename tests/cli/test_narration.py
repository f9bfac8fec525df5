"""The words of the demo say what happened, in every case, and never more than is true."""

from __future__ import annotations

import dataclasses

import pytest

from discreet.cli import demo
from discreet.cli.narration import Chapter, chapters
from discreet.data import hospital

STORY = demo.tell(hospital(people=1500, seed=8), seed=8)


def with_noise(everyone: int, others: int) -> demo.Story:
    pair = demo.PrivatePair(STORY.exact.everyone + everyone, STORY.exact.others + others, error=7)
    return dataclasses.replace(STORY, pair=pair)


def words(part: Chapter) -> str:
    return "\n".join([part.title, *part.before, str(part.table), *part.after])


def test_the_people_are_said_to_be_synthetic_first_of_all() -> None:
    assert "synthetic: nobody here is real" in chapters(STORY)[0].before[0]


def test_the_attack_states_the_diagnosis_it_reveals() -> None:
    text = words(chapters(STORY)[1])
    assert f"so this person has the diagnosis {STORY.target.diagnosis}" in text
    assert str(STORY.target) in text


def test_a_difference_of_zero_is_told_as_not_having_it() -> None:
    spared = dataclasses.replace(STORY, exact=demo.Differencing(everyone=40, others=40))
    assert "does not have the diagnosis" in words(chapters(spared)[1])


def test_the_private_chapter_states_epsilon_sensitivity_relation_and_intervals() -> None:
    text = words(chapters(with_noise(2, -1))[2])
    for claim in ("epsilon 0.5", "sensitivity 1", "add/remove", "95 % interval", "0.5 + 0.5 = 1"):
        assert claim in text
    assert "-10 to 18" in text
    assert "allows both" in text


def test_an_unlucky_run_is_told_as_it_is() -> None:
    text = words(chapters(with_noise(20, -3))[2])
    assert "leaves one of them out" in text
    assert "allows both" not in text


def test_a_count_below_zero_is_explained_only_when_there_is_one() -> None:
    assert "below zero" in words(chapters(with_noise(-STORY.exact.everyone - 1, 0))[2])
    assert "below zero" not in words(chapters(with_noise(1, 1))[2])


def test_beliefs_are_rounded_up() -> None:
    text = words(chapters(STORY)[2])
    assert "73.2 % sure" in text  # e / (1 + e) = 0.73105...
    assert "most 62.3 %" in text  # e^0.5 / (1 + e^0.5) = 0.62245...
    assert "92.5 %" in words(chapters(STORY)[5])  # e^2.5 / (1 + e^2.5) = 0.92414...


def test_private_chapters_hold_no_exact_count() -> None:
    wards = dataclasses.replace(STORY.wards, exact=(777_777,) * len(STORY.wards.wards))
    told = chapters(dataclasses.replace(STORY, wards=wards, exact=demo.Differencing(555_555, 555_554)))
    assert "555,555" in words(told[1])
    assert not any(number in words(part) for part in told[2:] for number in ("777,777", "555,555"))


def test_the_price_table_adds_up() -> None:
    table = chapters(STORY)[5].table
    costs = [row[1] for row in table.rows]
    assert costs == pytest.approx([1.0, 0.5, 0.5, 0.5, 2.5])
    assert [row[2] for row in table.rows] == [None, None, None, "0.000001", "0.000001"]


def with_diagnoses(shown: int, named: int) -> demo.Story:
    line = dataclasses.replace(STORY.stay, value=40, low=34.0, high=46.0)
    counts = {f"illness {place}": line for place in range(shown)}
    return dataclasses.replace(STORY, diagnoses=demo.Diagnoses(counts, named=named, threshold=26, most=25))


def test_the_mean_is_told_with_its_interval_rounded_outwards() -> None:
    stay = dataclasses.replace(STORY.stay, value=6.1204, low=5.8799, high=6.3601)
    table = chapters(dataclasses.replace(STORY, stay=stay))[4].table
    assert table.rows[0] == ("nights a stay, on average", 6.1, "5.8 to 6.4")


@pytest.mark.parametrize(
    ("shown", "named", "claim"),
    [
        (0, 0, "No diagnosis was frequent enough"),
        (1, 1, "One diagnosis was frequent enough"),
        (3, 3, "3 diagnoses were frequent enough"),
        (5, 11, "the 5 most frequent of the 11 diagnoses"),
    ],
)
def test_found_diagnoses_are_told_with_their_number_and_threshold(shown: int, named: int, claim: str) -> None:
    part = chapters(with_diagnoses(shown, named))[4]
    assert claim in part.after[0]
    assert "reaches 26" in words(part)
    assert ("off by more than 25" in words(part)) is (named > 0)
    assert len(part.table) == 1 + shown


def test_every_word_survives_a_terminal_that_knows_only_ascii() -> None:
    assert all(words(part).isascii() for part in chapters(STORY))

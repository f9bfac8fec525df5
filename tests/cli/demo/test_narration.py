"""The words of the demo say what happened, in every case, and never more than is true."""

from __future__ import annotations

import dataclasses

from discreet.cli.console import Chapter
from discreet.cli.demo.narration import ATTACK, DEPARTMENTS, chapters
from discreet.cli.demo.story import Refused, Story


def words(part: Chapter) -> str:
    return "\n".join([part.title, *part.before, str(part.table), *part.after])


def test_the_people_are_said_to_be_synthetic_first_of_all(story: Story) -> None:
    assert "synthetic: nobody here is real" in chapters(story)[0].before[0]


def test_the_attack_states_a_question_and_what_it_recovers(story: Story) -> None:
    text = words(chapters(story)[1])
    assert story.question in text
    assert "5,040 of 5,040" in text


def test_the_private_attack_states_price_ceiling_and_refusal(story: Story) -> None:
    text = words(chapters(story)[3])
    for claim in ("epsilon 0.03125 each", "1.96875 in all", "55.0 %", "50 %", "Nothing was spent"):
        assert claim in text
    failed = words(chapters(dataclasses.replace(story, spent=Refused("", "")))[3])
    assert "this must not happen" in failed


def test_the_ceiling_is_rounded_up(story: Story) -> None:
    top = story.private.ceiling
    assert top is not None
    higher = dataclasses.replace(top, lower=0.5, estimate=0.55, upper=0.55001)
    private = dataclasses.replace(story.private, ceiling=higher)
    assert "55.1 %" in words(chapters(dataclasses.replace(story, private=private))[3])


def test_private_chapters_hold_no_true_count(story: Story) -> None:
    told = chapters(dataclasses.replace(story, truth=(777_777,) * len(story.truth)))
    assert not any("777,777" in words(part) for part in told)


def test_each_drawing_belongs_to_one_chapter(story: Story) -> None:
    assert [part.drawing for part in chapters(story) if part.drawing] == [ATTACK, DEPARTMENTS]


def test_a_claim_that_failed_is_told_as_failed(story: Story) -> None:
    assert "FAILED" not in words(chapters(story)[-1])
    assert "FAILED" in words(chapters(dataclasses.replace(story, unchanged=False))[-1])


def test_every_word_survives_a_terminal_that_knows_only_ascii(story: Story) -> None:
    assert all(words(part).isascii() for part in chapters(story))

"""Invented writing is what it says: images of strokes whose characters can be told apart, messages of topics."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.data import glyphs, messages
from discreet.data.invented_writing import CHARACTERS
from discreet.errors import ParameterError


def test_the_same_seed_gives_the_same_images_and_another_others():
    one, two, other = (glyphs(people=30, seed=seed) for seed in (4, 4, 5))
    assert np.array_equal(one.images, two.images)
    assert np.array_equal(one.labels, two.labels)
    assert not np.array_equal(one.images, other.images)


def test_images_are_read_only_bytes_of_the_stated_size():
    made = glyphs(people=7, seed=1, side=12, characters="AX")
    assert made.images.shape == (7, 12, 12)
    assert made.images.dtype == np.uint8
    assert set(made.labels.tolist()) <= {0, 1}
    assert len(made) == 7
    for array in (made.images, made.labels):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_noise_is_what_differs_between_a_clean_image_and_a_noisy_one():
    clean, noisy = (glyphs(people=1, seed=3, noise=noise).images.astype(float) for noise in (0, 0.2))
    assert np.count_nonzero(clean) < clean.size / 2
    assert 0 < np.abs(noisy - clean).mean() < 0.2 * 255


def test_every_character_is_nearer_to_its_own_mean_than_to_the_others():
    made = glyphs(people=1800, seed=2, characters=CHARACTERS)
    rows = made.images.reshape(len(made), -1) / 255
    train, held = slice(0, 1500), slice(1500, None)
    means = np.stack([rows[train][made.labels[train] == code].mean(axis=0) for code in range(len(CHARACTERS))])
    nearest = ((rows[held][:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    assert np.mean(nearest == made.labels[held]) > 0.8


def test_messages_have_topics_of_their_own_words():
    one, two = (messages(people=400, seed=4, topics=3, words=30) for _ in range(2))
    assert one.text.tolist() == two.text.tolist()
    assert set(one.topic.tolist()) == {0, 1, 2}
    lengths = [len(text.split()) for text in one.text]
    assert min(lengths) >= 15
    assert max(lengths) <= 45
    words = [{word for text in one.text[one.topic == topic] for word in text.split()} for topic in range(3)]
    assert words[0] & words[1] & words[2]
    for topic in range(3):
        assert len(words[topic] - words[(topic + 1) % 3] - words[(topic + 2) % 3]) > 30


def test_a_made_up_word_is_often_followed_by_the_same_word():
    table = messages(people=500, seed=1, topics=1)
    pairs = [pair for text in table.text for pair in zip(text.split(), text.split()[1:], strict=False)]
    first = max({pair[0] for pair in pairs if len(pair[0]) > 5}, key=lambda word: sum(p[0] == word for p in pairs))
    after = [second for one, second in pairs if one == first]
    # the successor comes with chance .3, and a word drawn by chance is any one word with at most .2
    assert max(after.count(word) for word in set(after)) > 0.25 * len(after)


@pytest.mark.parametrize(
    ("make", "wrong"),
    [
        (glyphs, {"people": 0}),
        (glyphs, {"seed": -1}),
        (glyphs, {"side": 3}),
        (glyphs, {"characters": "?"}),
        (glyphs, {"characters": ""}),
        (glyphs, {"noise": 2}),
        (glyphs, {"noise": True}),
        (glyphs, {"people": 10_000_000}),
        (messages, {"topics": 0}),
        (messages, {"words": 1}),
    ],
)
def test_what_makes_no_writing_is_refused(make, wrong):
    with pytest.raises(ParameterError, match="must be"):
        make(**({"people": 5, "seed": 1} | wrong))

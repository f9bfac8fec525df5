"""Public features follow from one row and public numbers: the same to the bit beside any other rows, of norm 1."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from discreet.data import glyphs, messages  # noqa: E402
from discreet.errors import InputError, ParameterError  # noqa: E402
from discreet.learning.deep.recipes import COMMON_ENGLISH, BinnedNumbers, HashedTokens, HashedWords, OneHot, Scattering  # noqa: E402
from discreet.learning.deep.recipes.scattering import strokes  # noqa: E402

IMAGES = glyphs(people=12, seed=1, side=8).images / 255
TEXTS = messages(people=12, seed=1).text.tolist()
COLUMNS = {"sex": ("f", "m"), "age": BinnedNumbers((0, 100), bins=10), "code": range(5)}
TABLE = {"sex": ["f", "m", None, "x"] * 3, "age": np.linspace(-5, 120, 12), "code": np.arange(12) % 6}


def taken(table, places):
    return {name: [entries[place] for place in places] for name, entries in table.items()}


@pytest.mark.theorem("Scattering.privacy")
@pytest.mark.theorem("HashedWords.privacy")
@pytest.mark.theorem("HashedTokens.privacy")
@pytest.mark.theorem("OneHot.privacy")
@pytest.mark.parametrize("seed", range(3))
def test_a_row_has_the_same_bits_beside_any_other_rows_and_in_any_place(seed):
    order = np.random.default_rng(seed).permutation(12)[:5]
    for kind, rows, chosen in (
        (Scattering(side=8), IMAGES, IMAGES[order]),
        (HashedWords(columns=64), TEXTS, [TEXTS[place] for place in order]),
        (HashedTokens(words=64, tokens=9), TEXTS, [TEXTS[place] for place in order]),
        (OneHot(COLUMNS), TABLE, taken(TABLE, order)),
    ):
        assert np.array_equal(kind(rows)[order], kind(chosen))


def test_rows_have_norm_1_and_the_width_that_is_told():
    for kind, rows in ((Scattering(side=8), IMAGES), (HashedWords(columns=64), TEXTS)):
        features = kind(rows)
        assert features.shape == (12, kind.width)
        assert features.dtype == np.float32
        assert np.allclose((features.astype(float) ** 2).sum(axis=1), 1, atol=1e-6)
    squares = (OneHot(COLUMNS)(TABLE).astype(float) ** 2).sum(axis=1)
    assert squares.max() == pytest.approx(1, abs=1e-6)
    assert squares.min() < 0.9  # a missing cell has no 1


@pytest.mark.parametrize(("side", "colors"), [(4, 1), (9, 2), (28, 1)])
def test_images_of_any_size_are_scattered(side, colors, monkeypatch):
    monkeypatch.setattr("discreet.learning.deep.recipes.scattering._STROKES", 20)
    kind = Scattering(side=side, colors=colors, seed=side)
    images = np.random.default_rng(1).random((2, colors, side, side))
    assert kind(images).shape == (2, colors * 81 * 16 + 1)
    assert np.array_equal(kind(images), kind(images.reshape(2, -1)))


def test_a_pixel_that_is_no_number_spoils_its_own_row_only():
    broken = IMAGES.copy()
    broken[3, 0, 0] = np.inf
    features, whole = Scattering(side=8)(broken), Scattering(side=8)(IMAGES)
    assert np.isnan(features[3]).all()
    others = np.arange(12) != 3
    assert np.array_equal(features[others], whole[others])


@pytest.mark.parametrize("odd", [None, "text", 3, np.ones((3, 3)), np.full((8, 8), 1 + 2j)])
def test_an_image_that_is_none_spoils_its_own_row_only_in_a_list_and_in_an_array_of_objects(odd):
    one = np.linspace(0, 1, 64).reshape(8, 8)
    among = np.empty(2, dtype=object)
    among[:] = [one, odd]
    for images in ([one, odd], among):
        found = Scattering(side=8)(images)
        assert np.array_equal(found[0], Scattering(side=8)([one])[0])
        assert np.isnan(found[1]).all()


def test_complex_images_are_refused():
    with pytest.raises(InputError, match="images must be an array of numbers"):
        Scattering(side=8)(np.full((2, 8, 8), 1 + 2j))


def test_an_empty_image_and_an_empty_text_have_features():
    assert np.isfinite(Scattering(side=8)(np.zeros((1, 8, 8)))).all()
    row = HashedWords(columns=16)(["", "the of and"])
    assert np.count_nonzero(row) == 2
    assert (row[:, -1] > 0).all()


def test_common_words_do_not_count_and_the_seed_moves_words():
    one, two = HashedWords(columns=1 << 12), HashedWords(columns=1 << 12, seed=2)
    assert np.array_equal(one(["a storm is near"]), one(["STORM near!"]))
    assert not np.array_equal(one(["storm"]), two(["storm"]))
    assert not np.array_equal(one(["a storm"]), HashedWords(columns=1 << 12, leave_out=())(["a storm"]))
    assert not {"not", "no", "never"} & COMMON_ENGLISH


def test_a_word_counts_one_and_the_logarithm_of_how_often_it_comes():
    row = HashedWords(columns=1 << 16)(["storm storm storm near"])[0, :-1]
    large, small = sorted(np.abs(row[row != 0]).tolist(), reverse=True)
    assert large / small == pytest.approx(1 + np.log(3), rel=1e-6)


@pytest.mark.theorem("HashedWords.accuracy")
@pytest.mark.parametrize("columns", [64, 256, 1024])
def test_products_of_rows_are_off_by_about_one_over_the_root_of_the_columns(columns):
    """Seeds are public and fixed, so this cannot fail by chance."""
    one = [f"a{place}" for place in range(40)] + [f"b{place}" for place in range(40)]
    two = [f"a{place}" for place in range(40)] + [f"c{place}" for place in range(40)]
    off = []
    for seed in range(100):
        rows = HashedWords(columns=columns, seed=seed)([" ".join(one), " ".join(two)])[:, :-1].astype(float)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        off.append(rows[0] @ rows[1] - 0.5)
    assert 0.5 < np.sqrt(np.mean(np.square(off)) * columns) < 1.5
    assert abs(np.mean(off)) < 0.3 / np.sqrt(columns)


def test_pairs_of_words_tell_their_order():
    plain, pairs = HashedWords(columns=1 << 16), HashedWords(columns=1 << 16, pairs=True)
    assert np.array_equal(plain(["dog bites man"]), plain(["man bites dog"]))
    assert not np.array_equal(pairs(["dog bites man"]), pairs(["man bites dog"]))


def test_a_missing_text_is_left_out_and_tokens_are_cut():
    assert np.isnan(HashedWords(columns=8)([None, "storm"])[0]).all()
    tokens = HashedTokens(words=50, tokens=3)(["one two three four", "one"])
    assert tokens.shape == (2, 3)
    assert tokens[0, 0] == tokens[1, 0]
    assert tokens[1, 1:].tolist() == [0, 0]
    assert tokens[0].min() >= 1
    assert HashedTokens(tokens=2)([None, 3.5, "one"])[:2].tolist() == [[-1, -1]] * 2


@pytest.mark.parametrize("odd", [None, float("nan"), 2**70, 10**400, "x", b"5", [1, 2], np.zeros(2), {}, 1j, object()])
def test_what_one_person_writes_changes_no_other_row_and_refuses_nothing(odd):
    columns = {"code": range(10), "age": BinnedNumbers((0, 100), bins=4)}
    image = np.full((8, 8), 0.5).tolist()
    pairs = [
        (OneHot(columns), {"code": [5, 6, 7], "age": [10, 90, 50]}, {"code": [5, 6, odd], "age": [10, 90, odd]}),
        (Scattering(side=8), [image, image, image], [image, image, odd]),
        (Scattering(side=8), [image, image, image], [image, image, [[odd] * 8] * 8]),
        (HashedWords(columns=8), ["snow", "sun", "moon"], ["snow", "sun", odd]),
        (HashedTokens(words=9, tokens=3), ["snow", "sun", "moon"], ["snow", "sun", odd]),
    ]
    for features, usual, changed in pairs:
        found, other = features(usual), features(changed)
        assert np.array_equal(found[:2], other[:2])
        assert (found.shape, found.dtype) == (other.shape, other.dtype)


def test_a_column_has_its_1_at_the_declared_value():
    features = OneHot(COLUMNS)({"sex": ["m"], "age": [100.0], "code": [2]})[0]
    assert np.flatnonzero(features[:-1]).tolist() == [1, 11, 14]
    assert np.array_equal(OneHot({"a": range(3)})(np.array([[2]])), OneHot({"a": range(3)})({"a": [2]}))


def test_a_table_without_rows_has_features_too():
    assert Scattering(side=8)([]).shape == Scattering(side=8)(np.empty((0, 8, 8))).shape == (0, 1297)
    assert HashedWords(columns=8)([]).shape == (0, 9)
    assert OneHot({"a": range(3)})({"a": []}).shape == (0, 4)


def test_strokes_are_public_numbers():
    assert np.array_equal(strokes(5, 8, 1), strokes(5, 8, 1))
    assert not np.array_equal(strokes(5, 8, 1), strokes(5, 8, 2))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Scattering(side=2),
        lambda: Scattering(side=8, colors=0),
        lambda: Scattering(side=8, bounds=(1, 1)),
        lambda: Scattering(side=8, bounds=16),
        lambda: HashedWords(columns=1),
        lambda: HashedWords(leave_out="the"),
        lambda: HashedTokens(tokens=0),
        lambda: HashedWords(leave_out=5),
        lambda: BinnedNumbers((1, 1)),
        lambda: BinnedNumbers(None),
        lambda: BinnedNumbers("01"),
        lambda: BinnedNumbers((0, 10**400)),
        lambda: OneHot({}),
        lambda: OneHot({"a": (1, 1)}),
        lambda: OneHot({"a": "text"}),
    ],
)
def test_parameters_that_make_no_map_are_refused(wrong):
    with pytest.raises(ParameterError, match="must"):
        wrong()


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Scattering(side=8)(np.zeros((2, 9, 9))),
        lambda: Scattering(side=8)(np.array([["x"]])),
        lambda: HashedWords()("one text"),
        lambda: HashedWords()(None),
        lambda: HashedTokens()(3),
        lambda: OneHot(COLUMNS)({"sex": ["f"]}),
        lambda: OneHot(COLUMNS)(np.zeros((2, 2))),
        lambda: OneHot({"a": (1,), "b": (2,)})({"a": [1], "b": [2, 2]}),
    ],
)
def test_rows_of_another_shape_are_refused_without_a_word_about_them(wrong):
    with pytest.raises(InputError, match="must"):
        wrong()


def test_bytes_are_read_as_shades_from_0_to_255():
    made = glyphs(people=3, seed=1, side=8).images
    assert np.array_equal(Scattering(side=8)(made), Scattering(side=8)(made / 255))
    assert np.array_equal(Scattering(side=8)(torch.tensor(made)), Scattering(side=8)(made))


def test_shades_in_other_numbers_are_read_by_their_bounds():
    made = glyphs(people=3, seed=1, side=8).images
    whole = Scattering(side=8)(made)
    stated = Scattering(side=8, bounds=(0, 255))
    for same in (made, made.astype(np.int64), made.astype(float), list(made.tolist()), torch.tensor(made)):
        assert np.array_equal(stated(same), whole)
    assert np.allclose(Scattering(side=8, bounds=(-1, 1))(made / 127.5 - 1), whole, atol=1e-5)
    assert "from 0 to 255" in stated.told


def test_shades_beyond_their_bounds_are_cut():
    made = glyphs(people=3, seed=1, side=8).images.astype(float)
    narrow = Scattering(side=8, bounds=(50, 200))
    assert np.array_equal(narrow(made), narrow(made.clip(50, 200)))


@pytest.mark.parametrize("features", [HashedWords(columns=16), HashedTokens()])
@pytest.mark.parametrize("table", [{"text": ["a b"]}, np.array([["a"], ["b"]], dtype=object)])
def test_a_table_is_no_column_of_texts(features, table):
    with pytest.raises(InputError, match=r"texts must be a list or one column.*frame\['column'\]"):
        features(table)


def test_a_frame_is_no_column_of_texts():
    frames = pytest.importorskip("pandas")
    frame = frames.DataFrame({"text": ["a b", "c"]})
    with pytest.raises(InputError, match="got DataFrame"):
        HashedWords(columns=16)(frame)
    assert len(HashedWords(columns=16)(frame["text"])) == 2


def test_rows_as_a_list_are_told_how_columns_are_written():
    with pytest.raises(InputError, match="write a data frame or a mapping"):
        OneHot({"sex": ("f", "m")})([{"sex": "f"}])

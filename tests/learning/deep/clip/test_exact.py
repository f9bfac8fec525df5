"""Exact sums: weights that hold against rational arithmetic, sums within their stated error, rows bit for bit."""

from __future__ import annotations

from fractions import Fraction

import pytest

torch = pytest.importorskip("torch")

from benchmarks.deep.models import NETWORKS  # noqa: E402
from discreet.learning.deep.clip import BinaryCrossEntropy, CrossEntropy  # noqa: E402
from discreet.learning.deep.clip.layers.arithmetic import Arithmetic  # noqa: E402
from discreet.learning.deep.clip.layers.embedding import embedding_part, merged_part  # noqa: E402
from discreet.learning.deep.clip.layers.linear import linear_part, outer_part  # noqa: E402
from discreet.learning.deep.clip.weights import KAPPA, clip_weights, summation_error  # noqa: E402
from tests.learning.deep.clip import oracle  # noqa: E402
from tests.learning.deep.clip.hostile import hostile_pair  # noqa: E402

EXACT = Arithmetic(exact=True)
UNITS, PLACES, INPUTS, OUTPUTS = 4, 5, 3, 2


def rationals(values):
    return [[Fraction(one) for one in row] for row in values.tolist()]


def outer_sum(a, e):
    """Return sum_t e_t (a_t, 1)^T of one unit as rational numbers."""
    width = len(a[0]) + 1
    total = [[Fraction(0)] * width for _ in e[0]]
    for given, signal in zip(a, e, strict=True):
        for row, factor in enumerate(signal):
            for column, value in enumerate([*given, Fraction(1)]):
                total[row][column] += factor * value
    return total


def squared(table):
    return sum((one * one for row in table for one in row), Fraction(0))


@pytest.mark.theorem("ClippedSum.privacy")
@pytest.mark.parametrize("positions", [1, PLACES])
def test_weights_and_sums_hold_in_rational_arithmetic(positions, rounds):
    """No weighted gradient is longer than the norm; sums are within the stated error of the real ones."""
    generator = torch.Generator().manual_seed(positions)
    bound = Fraction(summation_error(UNITS, positions, positions > 1))
    finite = 0
    for _ in range(rounds(sample=60, full=3_000)):
        a, e = hostile_pair(generator, UNITS, positions, INPUTS, OUTPUTS)
        if positions == 1:
            part = outer_part(EXACT, a.flatten(1), e.flatten(1), weight=True, bias=True)
        else:
            part = linear_part(EXACT, "ghost", a, e, weight=True, bias=True)
        weights, lost = clip_weights([part], 1.0, normalized=False, exact=True)
        sums = part.total(weights, lost)
        real = [[Fraction(0)] * (INPUTS + 1) for _ in range(OUTPUTS)]
        for unit in range(UNITS):
            if not (torch.isfinite(a[unit]).all() and torch.isfinite(e[unit]).all()):
                assert weights[unit] == 0
                continue
            finite += 1
            found = outer_sum(rationals(a[unit]), rationals(e[unit]))
            weight = Fraction(float(weights[unit]))
            assert weight * weight * squared(found) <= 1
            for row in range(OUTPUTS):
                for column in range(INPUTS + 1):
                    real[row][column] += weight * found[row][column]
        ours = rationals(torch.cat([sums[0], sums[1][:, None]], 1))
        off = [[x - y for x, y in zip(one, other, strict=True)] for one, other in zip(ours, real, strict=True)]
        assert squared(off) <= bound * bound
    assert finite > 20


@pytest.mark.parametrize("make", [embedding_part, merged_part])
def test_looked_up_gradients_are_never_longer_than_the_norm(make, rounds):
    generator = torch.Generator().manual_seed(7)
    for _ in range(rounds(sample=40, full=2_000)):
        _, e = hostile_pair(generator, UNITS, PLACES, INPUTS, OUTPUTS)
        ids = torch.randint(0, 3, (UNITS, PLACES), generator=generator)
        part = make(EXACT, torch.zeros(3, OUTPUTS), ids, e)
        weights, _ = clip_weights([part], 1.0, normalized=False, exact=True)
        for unit in range(UNITS):
            only = torch.zeros(UNITS, dtype=torch.float64)
            only[unit] = 1
            if torch.isfinite(e[unit]).all() and weights[unit] > 0:
                gradient = part.total(only, None)[0]  # a few float64 additions: off by less than a part in 1e14
                assert float(weights[unit]) * gradient.norm() <= 1 + 1e-14


def test_a_gradient_that_cancels_exactly_is_bounded_by_its_terms():
    """The computed norm of what cancels is rounding alone; the guard keeps the weight finite and the sum near zero."""
    a = torch.randn(1, 1, 50).expand(1, 6, 50).contiguous() * 1e15
    e = torch.randn(1, 1, 20).expand(1, 6, 20).clone()
    e[:, 1::2] *= -1
    part = linear_part(EXACT, "ghost", a, e, weight=True, bias=False)
    weights, _ = clip_weights([part], 1.0, normalized=False, exact=True)
    reach = (a.double().norm(dim=-1) * e.double().norm(dim=-1)).sum()
    assert float(weights[0] * reach) <= KAPPA
    assert float(part.total(weights, None)[0].norm()) <= summation_error(1, 6, True)


def network(kind):
    made = NETWORKS[kind](False)
    inputs, targets = made.batch(8)
    clipped = oracle.clipped_sum(made.model, inputs, targets, oracle.Rule(0.1), classes=made.classes, exact=True)
    return clipped, inputs, targets


def same(one, other):
    return all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("kind", NETWORKS)
def test_a_row_keeps_its_bits_when_other_rows_or_slots_change(kind):
    """With one person present the sum is that person's; strangers in the other slots are not there to the bit."""
    clipped, inputs, targets = network(kind)
    made = NETWORKS[kind](False)
    others, labels = made.batch(8)
    only = torch.zeros(8, dtype=torch.bool)
    only[2] = True
    base = clipped(inputs, targets, only)
    others[2], labels[2] = inputs[2], targets[2]
    assert same(base, clipped(others, labels, only))
    moved = torch.zeros(8, dtype=torch.bool)
    moved[7] = True
    assert clipped.slot_independent
    assert same(base, clipped(inputs.roll(5, 0), targets.roll(5, 0), moved))
    assert any(float(one.norm()) > 0 for one in base)


@pytest.mark.parametrize("kind", [torch.nn.Sigmoid, torch.nn.SiLU, torch.nn.Softplus, torch.nn.Mish])
def test_functions_with_other_bits_at_the_end_of_a_tensor_are_no_slot_independent_ones(kind):
    """Their last few numbers are computed by other code: one in fifty differs, which made-up rows rarely show."""
    for physical, alike in (10, False), (64, True):
        model = torch.nn.Sequential(torch.nn.Linear(16, 7), kind(), torch.nn.Linear(7, 3))
        inputs, targets = torch.randn(physical, 16), torch.zeros(physical, dtype=torch.long)
        clipped = oracle.clipped_sum(model, inputs, targets, oracle.Rule(0.1), classes=3, exact=True)
        assert clipped.slot_independent is alike


@pytest.mark.parametrize(("width", "classes"), [(251, 2), (13, 7), (50, 1), (9, 10)])
def test_uneven_products_keep_a_rows_bits_in_every_slot(width, classes):
    """Products of uneven rows depend on where a row lies in memory; sums compute them in even widths."""
    model = torch.nn.Sequential(torch.nn.Linear(width, 6), torch.nn.Tanh(), torch.nn.Linear(6, classes))
    inputs, targets = torch.randn(10, width), torch.zeros(10, classes)
    clipped = oracle.clipped_sum(model, inputs, targets, oracle.Rule(0.1), exact=True, loss=BinaryCrossEntropy())
    assert clipped.slot_independent
    found = []
    for shift in range(10):
        only = torch.zeros(10, dtype=torch.bool)
        only[shift] = True
        found.append(clipped(inputs.roll(shift, 0), targets, only))
    assert all(same(found[0], one) for one in found[1:])
    assert "forward" not in vars(model[0])


@pytest.mark.parametrize("kind", ["MLP", "CNN", "ResNet-GN"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e38])
@pytest.mark.parametrize("exact", [True, False])
def test_a_row_that_is_not_finite_adds_nothing_and_changes_no_bit(kind, value, exact):
    made = NETWORKS[kind](False)
    inputs, targets = made.batch(8)
    clipped = oracle.clipped_sum(made.model, inputs, targets, oracle.Rule(0.1), classes=10, exact=exact)
    absent = oracle.everyone(8)
    absent[3] = False
    base = clipped(inputs, targets, absent)
    inputs[3] = value
    found = clipped(inputs, targets, oracle.everyone(8))
    if value == 1e38 and kind == "ResNet-GN":  # group normalization brings it back: a person like others
        assert all(torch.isfinite(one).all() for one in found)
    else:
        assert same(base, found)


def test_labels_and_words_out_of_range_add_nothing():
    made = NETWORKS["embedding"](False)
    ids, targets = made.batch(8)
    clipped = oracle.clipped_sum(made.model, ids, targets, oracle.Rule(0.1), classes=4, exact=True)
    absent = oracle.everyone(8)
    absent[[1, 5]] = False
    base = clipped(ids, targets, absent)
    ids[1, 4], targets[5] = 10**9, 77
    assert same(base, clipped(ids, targets, oracle.everyone(8)))


def test_an_empty_batch_sums_to_zero():
    clipped, inputs, targets = network("CNN")
    assert all(not one.any() for one in clipped(inputs, targets, torch.zeros(8, dtype=torch.bool)))


def test_what_lies_in_a_slot_that_nobody_takes_does_not_count():
    clipped, inputs, targets = network("MLP")
    present = oracle.everyone(8)
    present[4:] = False
    base = clipped(inputs, targets, present)
    inputs[4:], targets[4:] = float("nan"), -5
    assert same(base, clipped(inputs, targets, present))


def test_a_person_with_fewer_rows_counts_the_rows_that_are_there():
    made = NETWORKS["digits"](False)
    inputs, targets = made.batch(6)
    model = made.model.double()
    inputs = inputs.double()
    clipped = oracle.clipped_sum(model, inputs, targets, oracle.Rule(1e6), classes=10, rows=3)
    present = torch.tensor([[True, True, False], [True, False, False]])
    sums = clipped(inputs, targets, present)
    each = oracle.gradients(model, CrossEntropy(10), inputs, targets)
    theirs = [one[[0, 1, 3]].sum(0) / 3 for one in each]
    assert oracle.distance(sums, theirs) < 1e-12

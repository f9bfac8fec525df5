"""What cannot be summed is refused before a person's row is seen, in one sentence that holds nothing private."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from discreet.errors import AssumptionFailed, InputError, ParameterError  # noqa: E402
from discreet.learning.deep.clip import BinaryCrossEntropy, ClippedSum, CrossEntropy  # noqa: E402
from discreet.learning.deep.clip.settings import check_settings  # noqa: E402
from tests.learning.deep.clip import oracle  # noqa: E402

WRITE = r"must .*; got .*, write "


class Mixing(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(6, 4)

    def forward(self, x):
        return self.out(x - x.mean(0))


class Cross(nn.Module):
    """Attention between rows: the mix comes after the layers."""

    def __init__(self):
        super().__init__()
        self.out = nn.Linear(6, 4)

    def forward(self, x):
        return torch.softmax(x @ x.T, 1) @ self.out(x)


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(6, 4)
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x):
        self.seen += 1
        return self.out(x)


class Unused(nn.Module):
    def __init__(self):
        super().__init__()
        self.out, self.idle = nn.Linear(6, 4), nn.Linear(6, 4)

    def forward(self, x):
        return self.out(x)


class Elsewhere(nn.Module):
    """A tensor used outside the forward of its module."""

    def __init__(self):
        super().__init__()
        self.first, self.out = nn.Linear(6, 6), nn.Linear(6, 4)

    def forward(self, x):
        return self.out(torch.tanh(self.first(x)) @ self.first.weight)


class Overwriting(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.out = nn.Linear(6, 6), nn.Linear(6, 4)

    def forward(self, x):
        x = x + 1
        y = self.first(x)
        x.mul_(2)
        return self.out(torch.tanh(y + x))


def build(model, *, loss=None, exact=False, width=6, example=None, **options):
    chosen = {"physical": 6, "example": example or (torch.zeros(1, width), torch.zeros(1, dtype=torch.long))}
    return ClippedSum(model, loss or CrossEntropy(4), oracle.Rule(1.0), exact=exact, **(chosen | options))


def plain():
    return nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 4))


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize(
    "model",
    [
        lambda: nn.Sequential(nn.Linear(6, 4), nn.BatchNorm1d(4)),
        lambda: nn.Sequential(nn.Unflatten(1, (2, 3)), nn.InstanceNorm1d(2, track_running_stats=True), nn.Flatten()),
        lambda: nn.Sequential(nn.Linear(6, 4), nn.InstanceNorm1d(4, affine=True, track_running_stats=True)),
        Counting,
        Unused,
        Elsewhere,
        Overwriting,
        lambda: plain().requires_grad_(False),
    ],
)
def test_a_model_that_cannot_be_summed(model, exact):
    with pytest.raises(ParameterError, match=WRITE):
        build(model(), exact=exact)


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("model", [Mixing, Cross])
def test_a_model_that_mixes_rows(model, exact):
    with pytest.raises(AssumptionFailed if exact else ParameterError, match=r"row.*depend|every row by itself"):
        build(model(), exact=exact)


def test_a_loss_that_mixes_rows():
    def centered(scores, targets):
        losses = nn.functional.cross_entropy(scores, targets, reduction="none")
        return losses * losses.mean()

    with pytest.raises(ParameterError, match="every row by itself"):
        build(plain(), loss=centered)


@pytest.mark.parametrize(
    "loss",
    [
        nn.functional.cross_entropy,
        nn.CrossEntropyLoss(),
        lambda scores, targets: (scores - targets[:, None]) ** 2,
        lambda *_: 1.0,
    ],
)
def test_a_loss_that_is_not_one_number_a_row(loss):
    with pytest.raises(ParameterError, match="one number a row"):
        build(plain(), loss=loss)


def test_exact_sums_want_float32_throughout():
    for model in (plain().double(), plain().half(), plain().bfloat16()):
        with pytest.raises(ParameterError, match="must be float32"):
            build(model, exact=True)
    with pytest.raises(ParameterError, match="must be float32 or float64"):
        build(plain().half())


def test_exact_sums_want_no_autocast_and_full_products():
    clipped = build(plain(), exact=True)
    batch = torch.zeros(6, 6), torch.zeros(6, dtype=torch.long), oracle.everyone(6)
    with torch.autocast("cpu", dtype=torch.bfloat16), pytest.raises(AssumptionFailed, match="autocast"):
        clipped(*batch)
    with torch.autocast("cpu", dtype=torch.bfloat16), pytest.raises(AssumptionFailed, match="autocast"):
        build(plain(), exact=True)
    torch.set_float32_matmul_precision("medium")
    try:
        with pytest.raises(AssumptionFailed, match="precision"):
            clipped(*batch)
    finally:
        torch.set_float32_matmul_precision("highest")
    clipped(*batch)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"allow_tf32": True}, "TF32"),
        ({"deterministic": False}, "deterministic"),
        ({"benchmark": True}, "deterministic"),
        ({}, None),
    ],
)
def test_exact_sums_on_a_graphics_card_want_deterministic_convolutions(changed, words, monkeypatch):
    cudnn = SimpleNamespace(**({"allow_tf32": False, "deterministic": True, "benchmark": False} | changed))
    backends = SimpleNamespace(cudnn=cudnn, cuda=SimpleNamespace(matmul=SimpleNamespace(allow_tf32=False)))
    switches = SimpleNamespace(
        backends=backends, is_autocast_enabled=lambda _: False, get_float32_matmul_precision=lambda: "highest"
    )
    monkeypatch.setattr("discreet.learning.deep.clip.settings.torch", switches)
    check_settings(torch.device("cuda"), exact=False)
    if words is None:
        check_settings(torch.device("cuda"), exact=True)
    else:
        with pytest.raises(AssumptionFailed, match=words):
            check_settings(torch.device("cuda"), exact=True)


@pytest.mark.parametrize("kind", [ValueError, InputError, None])
def test_a_model_that_fails_on_a_row_says_nothing_about_it(kind):
    seen = 4  # classes that made-up rows show; None stands for a loss that leaves rows out, and so counts them

    def fragile(scores, targets):
        if (targets == 3).any() and seen == 3:
            if kind is not None:
                raise kind(f"the secret is {scores[0, 0].item()}")
            return CrossEntropy(4)(scores, targets)[targets < 3]
        return CrossEntropy(4)(scores, targets)

    clipped = build(plain(), loss=fragile)
    seen = 3
    with pytest.raises(InputError, match="got an error from them") as caught:
        clipped(torch.zeros(6, 6), torch.full((6,), 3), oracle.everyone(6))
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("inputs", "targets", "present"),
    [
        (torch.zeros(5, 6), torch.zeros(6, dtype=torch.long), oracle.everyone(6)),
        (torch.zeros(6, 7), torch.zeros(6, dtype=torch.long), oracle.everyone(6)),
        (torch.zeros(6, 6).double(), torch.zeros(6, dtype=torch.long), oracle.everyone(6)),
        (torch.zeros(6, 6), torch.zeros(6, dtype=torch.long), oracle.everyone(5)),
        (torch.zeros(6, 6), torch.zeros(6, dtype=torch.long), torch.ones(6)),
        ((torch.zeros(6, 6), torch.zeros(6, 6)), torch.zeros(6, dtype=torch.long), oracle.everyone(6)),
        (None, torch.zeros(6, dtype=torch.long), oracle.everyone(6)),
        (torch.zeros(6, 6), [0] * 6, oracle.everyone(6)),
        (torch.zeros(6, 6), torch.zeros(6, dtype=torch.long), None),
    ],
)
def test_a_batch_must_have_the_declared_shape(inputs, targets, present):
    with pytest.raises(InputError, match=WRITE):
        build(plain())(inputs, targets, present)


@pytest.mark.parametrize(
    "options",
    [
        {"physical": 0},
        {"physical": 2.0},
        {"rows": True},
        {"example": (torch.zeros(1, 6),)},
        {"example": (torch.zeros(()), torch.zeros(1))},
        {"exact": {}},  # neither True nor False: what is merely false must not turn the proof off
        {"exact": 1},
        {"loss": 5},
    ],
)
def test_public_numbers_must_make_sense(options):
    with pytest.raises(ParameterError, match=WRITE):
        build(plain(), **options)


def test_the_error_of_plain_floats_is_not_stated():
    with pytest.raises(ParameterError, match="exact=True"):
        _ = build(plain()).summation_error


def test_dropout_and_activations_in_place_are_no_reason_to_refuse():
    model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(inplace=True), nn.Dropout(0.5), nn.Linear(8, 4))
    assert not build(model, exact=True).slot_independent  # masks belong to slots


class MixingNumbers(Mixing):
    def forward(self, x):
        return super().forward(x.float())


@pytest.mark.parametrize("kind", [torch.float32, torch.uint8, torch.int64])
@pytest.mark.parametrize("exact", [True, False])
def test_rows_of_whole_numbers_do_not_hide_that_a_model_mixes_rows(kind, exact):
    example = torch.zeros(1, 6, dtype=kind), torch.zeros(1, dtype=torch.long)
    with pytest.raises((AssumptionFailed, ParameterError), match="row"):
        build(MixingNumbers(), exact=exact, example=example)


def test_weights_that_are_zero_at_first_do_not_hide_that_a_model_mixes_rows():
    class Centered(nn.Linear):
        def forward(self, rows):
            scores = super().forward(rows)
            return scores - scores.detach().mean(0)

    model = Centered(6, 4)
    nn.init.zeros_(model.weight)
    nn.init.zeros_(model.bias)
    with pytest.raises(AssumptionFailed, match="row"):
        build(model, exact=True)
    assert not model.weight.any()  # the probe puts weights back


def test_targets_that_no_loss_counts_do_not_hide_that_a_loss_mixes_rows():
    def mixing(scores, targets):
        each = BinaryCrossEntropy()(scores, targets)
        return each * (1 + each.detach().mean())

    example = torch.zeros(1, 6), torch.zeros(1, 4)
    with pytest.raises(AssumptionFailed, match="row"):
        build(plain(), exact=True, example=example, loss=mixing)

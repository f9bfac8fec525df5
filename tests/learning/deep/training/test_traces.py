"""What rows must not leave behind: in the model that is handed out, in torch's generators, in warnings, in refusals."""

from __future__ import annotations

import os
import pickle
import random
import warnings
from functools import partial
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from discreet.errors import LedgerError, MissingParameter, ParameterError  # noqa: E402
from discreet.learning.deep.clip import CrossEntropy  # noqa: E402
from discreet.learning.deep.noise import IntegerRelease  # noqa: E402
from discreet.learning.deep.plan import Clip, FullBatch, IndependentNoise, Plan, PoissonBatches  # noqa: E402
from discreet.learning.deep.training import Checkpoint, TailAverage, train  # noqa: E402
from discreet.ledger import MemoryLedger, Terms  # noqa: E402
from discreet.privacy import ApproxDP, Relation  # noqa: E402

PEOPLE, CLASSES = 20, 3
RANDOM = np.random.default_rng(15)
X = torch.from_numpy(RANDOM.normal(size=(PEOPLE, 4)).astype(np.float32))
Y = torch.from_numpy(RANDOM.integers(0, CLASSES, PEOPLE))
ROW = torch.zeros(4), 0


class Careless(torch.nn.Module):  # type: ignore[misc]
    """A model that keeps what it was given, warns of large numbers, and raises for larger ones."""

    def __init__(self, dropped: float = 0.0) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.first, self.drop, self.last = torch.nn.Linear(4, 5), torch.nn.Dropout(dropped), torch.nn.Linear(5, CLASSES)
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, rows: Any) -> Any:
        if bool((rows > 1e5).any()):
            raise ValueError("patient 17")
        if bool((rows > 1e4).any()):
            warnings.warn("patient 18", stacklevel=1)
            self.seen.add_(1)  # never on made-up rows
        self.rows, self.hidden = rows, torch.tanh(self.first(rows))
        return self.last(self.drop(self.hidden))


class Rows(torch.utils.data.Dataset):  # type: ignore[misc]
    """A dataset of any rows."""

    def __init__(self, rows: list[Any]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, place: int) -> Any:
        if isinstance(self._rows[place], Exception):
            raise self._rows[place]
        return self._rows[place]


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Release sums as they are."""
    monkeypatch.setattr(IntegerRelease, "_noisy", lambda self, _: self._sums.take().clone())


SLOTTED = PoissonBatches(rate=1, overflow="drop", most_people=64)  # everyone, in random slots, as dropout needs


def trained(data: Any = None, model: Any = None, sampler: Any = None, **changed: Any) -> Any:
    plan = Plan(
        sampler=sampler or FullBatch(),
        clip=Clip(1.0),
        noise=IndependentNoise(20.0),
        steps=2,
        unit="person",
        relation=Relation.ADD_REMOVE,
        divisor=PEOPLE,
        delta=1e-6,
    )
    given = {"optimizer": partial(torch.optim.SGD, lr=0.5), "physical": 8, **changed}
    return train(model or Careless(), (X, Y) if data is None else data, plan, CrossEntropy(CLASSES), **given)


def weights(found: Any) -> list[float]:
    return torch.cat([one.detach().flatten() for one in found.model.parameters()]).tolist()


def with_cell(value: float) -> Any:
    changed = X.clone()
    changed[3, 1] = value
    return changed, Y


def ledger() -> MemoryLedger:
    budget = ApproxDP(10, 1e-5, relation=Relation.ADD_REMOVE)
    return MemoryLedger(Terms(lineage="trial", unit="person", budget=budget, caps={"ann": None}))


def test_the_model_that_is_handed_out_never_saw_a_row(tmp_path):
    for more in ({}, {"average": TailAverage(frequency=0.9)}, {"checkpoint": tmp_path / "kept", "ledger": ledger()}):
        found = trained(with_cell(2e4), **more)
        assert not hasattr(found.model, "rows")
        assert not hasattr(found.model, "hidden")
        assert float(found.model.seen) == 0
        pickle.dumps(found.model)
        assert weights(found) != weights(type(found)(Careless(), found.plan, None, None, 0))


def test_torch_draws_nothing_that_tells_how_many_rows_there_are():
    after = []
    for people in (PEOPLE, 8, 0):
        torch.manual_seed(5)
        model = Careless(dropped=0.5)
        torch.manual_seed(6)
        trained((X[:people], Y[:people]), model=model, sampler=SLOTTED)
        after.append(torch.rand(3).tolist())
    assert after[0] == after[1] == after[2]


@pytest.mark.usefixtures("quiet")
def test_masks_follow_from_no_seed_of_the_caller():
    found = []
    for _ in range(2):
        torch.manual_seed(6)  # equal masks of 5 units for 20 rows and 2 steps by chance: 2^-200
        found.append(weights(trained(model=Careless(dropped=0.5), sampler=SLOTTED)))
    assert found[0] != found[1]


class Stopping(Careless):
    """A model that stops the program at a large number, with words about the row, while it looks into an error."""

    stop: BaseException = KeyboardInterrupt()

    def forward(self, rows: Any) -> Any:
        if bool((rows > 1e4).any()):
            try:
                raise ValueError("patient 17")
            except ValueError:
                raise self.stop  # noqa: B904  as an interruption would come, amid anything
        return super().forward(rows)


@pytest.mark.parametrize("more", [{}, {"kept": True}])
@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_an_interruption_carries_nothing_of_a_row(kind, more, tmp_path):
    model = Stopping()
    model.stop = kind("patient 18")
    books = {"ledger": ledger(), "checkpoint": tmp_path / "kept"} if more else {}
    with pytest.raises(kind) as raised:
        trained(with_cell(2e4), model=model, **books)
    assert type(raised.value) is kind
    assert raised.value.args == ((1,) if kind is SystemExit else ())  # a program that was stopped has not succeeded
    assert (raised.value.__cause__, raised.value.__context__) == (None, None)


def test_what_a_row_makes_the_model_warn_of_is_not_heard(recwarn):
    trained(with_cell(2e4))
    assert not recwarn.list


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("odd", [ValueError("patient 19"), None, (X[0, :3], 1), (X[0], 0.5), (X[0].long(), 1), "row"])
def test_the_first_row_of_a_dataset_decides_nothing(odd):
    rest = [(X[place], int(Y[place])) for place in range(PEOPLE)]
    assert weights(trained(Rows([odd, *rest]), example=ROW)) == weights(trained(Rows(rest), example=ROW))
    assert weights(trained(Rows([odd]), example=ROW)) == weights(trained(Rows([]), example=ROW))


class Shaken(Rows):
    """A dataset that moves each row by numbers of the generators that everybody shares, and writes them down."""

    def __init__(self, given: Any) -> None:
        super().__init__(given)
        self.drawn: list[tuple[float, ...]] = []

    def __getitem__(self, place: int) -> Any:
        ours = np.random.randn(), np.random.rand(), random.gauss(0, 1), random.random()  # noqa: S311  a dataset's own
        numbers = (*ours, float(torch.rand((), dtype=torch.double)))
        self.drawn.append(numbers)
        inputs, target = super().__getitem__(place)
        return inputs + sum(numbers), target


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("kind", [np.random.MT19937, np.random.PCG64])
def test_what_a_dataset_draws_follows_from_no_seed_of_the_caller_and_leaves_no_trace(kind):
    usual, found, after = np.random.get_bit_generator(), [], []
    try:
        for people in (PEOPLE, 3):
            np.random.set_bit_generator(kind(5))
            random.seed(5)
            torch.manual_seed(5)
            began = np.random.randn()  # keeps a second normal number back
            rows = Shaken([(X[place], int(Y[place])) for place in range(people)])
            trained(rows, example=ROW)
            found.append(rows.drawn)
            after.append([began, np.random.randn(), np.random.rand(), random.gauss(0, 1)])
    finally:
        np.random.set_bit_generator(usual)
    assert after[0] == after[1]
    every = [one for drawn in found for numbers in drawn for one in numbers]
    assert len(set(every)) == len(every)  # 230 numbers of 52 bits or more: equal by chance 2^-37


class Uncounted(Rows):
    """A dataset whose length cannot be told."""

    def __len__(self) -> int:
        raise ValueError("patient 20")


@pytest.mark.parametrize(
    ("wrong", "parameter"),
    [
        ({"data": Rows([(X[0], 1)])}, "example"),
        ({"data": Rows([(X[0], 1)]), "example": (1, 2, 3)}, "example"),
        ({"example": ROW}, "example"),
        ({"data": Uncounted([]), "example": ROW}, "data"),
        ({"data": (X.to_sparse(), Y)}, "data"),
        ({"data": (X.to("meta"), Y)}, "data"),
        ({"rows": "x"}, "rows"),
        ({"rows": 2.5}, "rows"),
        ({"rows": True}, "rows"),
        ({"model": "kept"}, "model"),
    ],
)
def test_what_shows_no_shape_is_refused_before_the_charge(wrong, parameter):
    books = ledger()
    if "model" in wrong:
        wrong["model"] = Careless()
        wrong["model"].hidden = wrong["model"].first.weight * 2  # torch copies no tensor with a history
    with pytest.raises((ParameterError, MissingParameter), match="Nothing was spent") as caught:
        trained(ledger=books, **wrong)
    assert caught.value.parameter == parameter
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    assert len(list(books.entries())) == 1


@pytest.mark.parametrize("path", ["", "/", "a\0b", "\ud800", b"x", None])
def test_what_names_no_file_is_no_checkpoint(path):
    with pytest.raises(ParameterError, match="name a file"):
        Checkpoint(path)


def test_a_pipe_in_the_place_of_a_checkpoint_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "kept")
    books = ledger()
    with pytest.raises(LedgerError, match="not a regular file"):
        trained(checkpoint=tmp_path / "kept", ledger=books)
    assert len(list(books.entries())) == 1

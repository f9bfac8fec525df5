"""Training by a plan: what is paid, what is refused, what rows that are no rows do, and what is left afterwards."""

from __future__ import annotations

import os
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

torch = pytest.importorskip("torch")

from discreet.errors import (  # noqa: E402
    AssumptionFailed,
    BudgetExceeded,
    ConflictingParameters,
    DiscreetError,
    InputError,
    MissingParameter,
    ParameterError,
    QueryFailed,
    RelationMismatch,
)
from discreet.learning.deep.clip import CrossEntropy  # noqa: E402
from discreet.learning.deep.noise import ahead  # noqa: E402
from discreet.learning.deep.plan import Clip, Float, FullBatch, IndependentNoise, Plan, PoissonBatches  # noqa: E402
from discreet.learning.deep.training import ExponentialAverage, TailAverage, TrainedModel, train  # noqa: E402
from discreet.learning.deep.training import rows as rows_of_training  # noqa: E402
from discreet.ledger import EntryKind, MemoryLedger, Terms  # noqa: E402
from discreet.privacy import ApproxDP, Relation  # noqa: E402

PEOPLE, CLASSES, STEPS = 50, 3, 3
RANDOM = np.random.default_rng(11)
X = torch.from_numpy(RANDOM.normal(size=(PEOPLE, 4)).astype(np.float32))
Y = torch.from_numpy(RANDOM.integers(0, CLASSES, PEOPLE))
LOSS = CrossEntropy(CLASSES)
ROW = torch.zeros(4), 0


def plan_of(sampler: Any = None, **changed: Any) -> Plan:
    stated = {
        "sampler": sampler or FullBatch(),
        "clip": Clip(1.0),
        "noise": IndependentNoise(20.0),
        "steps": STEPS,
        "unit": "person",
        "relation": Relation.ADD_REMOVE,
        "divisor": PEOPLE,
        "delta": 1e-6,
    }
    return Plan(**{**stated, **changed})


def network() -> Any:
    torch.manual_seed(3)
    return torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, CLASSES))


def descent(parameters: Any) -> Any:
    return torch.optim.SGD(parameters, lr=0.5, momentum=0.9)


def trained(data: Any = None, plan: Plan | None = None, **changed: Any) -> TrainedModel:
    given = {"optimizer": descent, "physical": 8, **changed}
    model, loss = given.pop("model", None) or network(), given.pop("loss", LOSS)
    return train(model, (X, Y) if data is None else data, plan or plan_of(), loss, **given)


def ledger(epsilon: float = 10, unit: str = "person", relation: Relation = Relation.ADD_REMOVE) -> MemoryLedger:
    budget = ApproxDP(epsilon, 1e-5, relation=relation)
    return MemoryLedger(Terms(lineage="trial", unit=unit, budget=budget, caps={"ann": None}))


def weights(found: TrainedModel) -> list[Any]:
    return [one.detach().clone() for one in found.model.parameters()]


def same(one: TrainedModel, other: TrainedModel) -> bool:
    return all(torch.equal(a, b) for a, b in zip(weights(one), weights(other), strict=True))


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw zeros in place of the noise, so that sums can be compared to the bit."""
    monkeypatch.setattr(ahead, "_draw", lambda _, vectors, length: list(np.zeros((vectors, length), dtype=np.int64)))


def test_a_training_is_charged_first_and_says_what_it_guarantees():
    books = ledger()
    before = network().state_dict()
    model = network()
    found = trained(model=model, ledger=books)
    assert found.guarantee == found.cost == plan_of().guarantee
    assert found.charge == 2
    assert (found.steps, found.taken, found.records) == (STEPS, STEPS, plan_of().records)
    assert [entry.kind for entry in books.entries()] == [EntryKind.OPEN, EntryKind.CHARGE, EntryKind.OUTCOME]
    assert all(torch.equal(before[name], one) for name, one in model.state_dict().items())
    assert not any(torch.equal(a, b) for a, b in zip(weights(found), before.values(), strict=True))


def test_what_is_left_can_be_pickled_and_shows_no_row():
    found = pickle.loads(pickle.dumps(trained()))  # noqa: S301  it was pickled here
    assert repr(found).startswith("<TrainedModel: model Sequential; guarantee epsilon ")
    assert found.cost is None
    assert all(one.grad is None for one in found.model.parameters())


def test_the_charge_is_durable_before_the_first_step(monkeypatch):
    books, seen = ledger(), []
    real = rows_of_training.TrainingRows.batch

    def batch(self: Any, *given: Any) -> Any:
        seen.append(books.balance().spent)
        return real(self, *given)

    monkeypatch.setattr(rows_of_training.TrainingRows, "batch", batch)
    trained(ledger=books)
    assert float(seen[0].epsilon) == pytest.approx(plan_of().guarantee.epsilon)


def test_two_trainings_by_one_plan_are_two_charges_and_without_books_the_second_is_refused():
    books, plan = ledger(), plan_of()
    trained(plan=plan, ledger=books)
    trained(plan=plan, ledger=books)
    assert float(books.balance().spent.epsilon) == pytest.approx(2 * plan.guarantee.epsilon)
    trained(plan=plan)
    with pytest.raises(ParameterError, match=r"plan must be used once.*Nothing was spent"):
        trained(plan=plan)


def test_a_budget_that_is_too_small_releases_nothing():
    books = ledger(epsilon=0.01)
    with pytest.raises(BudgetExceeded):
        trained(ledger=books)
    assert len(list(books.entries())) == 1


def test_exact_noise_is_not_added_to_compiled_sums():
    books = ledger()
    with pytest.raises(ParameterError, match=r"compiled must be False for exact sums.*Nothing was spent"):
        trained(ledger=books, compiled=True)
    assert len(list(books.entries())) == 1


def test_progress_counts_steps():
    told: list[tuple[int, int | None]] = []
    trained(progress=lambda *given: told.append(given))
    assert told == [(1, STEPS), (2, STEPS), (3, STEPS)]


@pytest.mark.usefixtures("quiet")
def test_sums_and_steps_are_those_of_plain_clipped_descent():
    """Against per-example gradients by autograd, one row at a time: equal but for the grid and the order of sums."""
    reference, norm = network().double(), 1.0
    optimizer = descent(reference.parameters())
    for _ in range(STEPS):
        total = [torch.zeros_like(one) for one in reference.parameters()]
        for row, label in zip(X, Y, strict=True):
            loss = torch.nn.functional.cross_entropy(reference(row.double()), label)
            one = torch.autograd.grad(loss, list(reference.parameters()))
            length = torch.sqrt(sum((part**2).sum() for part in one))
            total = [whole + part * min(1.0, norm / float(length)) for whole, part in zip(total, one, strict=True)]
        for parameter, whole in zip(reference.parameters(), total, strict=True):
            parameter.grad = whole / PEOPLE
        optimizer.step()
    for mine, theirs in zip(trained().model.parameters(), reference.parameters(), strict=True):
        assert torch.allclose(mine.double(), theirs, atol=1e-6)


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
@pytest.mark.parametrize("at", [0, 17, PEOPLE])
def test_a_row_that_is_not_finite_adds_nothing_and_the_others_add_the_same_bits(bad, at):
    row = torch.full((1, 4), bad)
    with_it = torch.cat([X[:at], row, X[at:]]), torch.cat([Y[:at], Y[:1], Y[at:]])
    assert same(trained(with_it), trained())


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("bad", [1e38, -3e38])
def test_a_huge_row_moves_the_sum_by_no_more_than_the_norm(bad):
    """Where its gradient is finite in float64 it is clipped like any other, and where it is not it adds nothing."""

    def weights_after_one_step(data: Any) -> list[Any]:
        plan = plan_of(steps=1, divisor=1)
        return weights(trained(data, plan, optimizer=lambda given: torch.optim.SGD(given, lr=1.0)))

    row = torch.full((1, 4), bad)
    moved = weights_after_one_step((torch.cat([X[:7], row, X[7:]]), torch.cat([Y[:7], Y[:1], Y[7:]])))
    squares = [((a - b) ** 2).sum() for a, b in zip(moved, weights_after_one_step((X, Y)), strict=True)]
    assert sum(squares) <= 1 + 1e-4


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("label", [CLASSES, -1, -100, 1 << 40])
def test_a_label_out_of_range_counts_for_nothing(label):
    data = torch.cat([X[:5], X[:1], X[5:]]), torch.cat([Y[:5], torch.tensor([label]), Y[5:]])
    assert same(trained(data), trained())


@pytest.mark.usefixtures("quiet")
def test_a_row_for_which_the_loss_raises_counts_for_nothing():
    def loss(scores: Any, targets: Any) -> Any:
        return torch.nn.functional.cross_entropy(scores, targets, reduction="none")

    data = torch.cat([X[:5], X[:1], X[5:]]), torch.cat([Y[:5], torch.tensor([CLASSES]), Y[5:]])
    assert same(trained(data, loss=loss), trained(loss=loss))


@pytest.mark.usefixtures("quiet")
def test_a_word_out_of_range_counts_for_nothing():
    model = torch.nn.Sequential(torch.nn.Embedding(6, 4), torch.nn.Flatten(), torch.nn.Linear(8, CLASSES))
    words = torch.from_numpy(RANDOM.integers(0, 6, (PEOPLE, 2)))
    data = torch.cat([words, torch.tensor([[2, 6]])]), torch.cat([Y, Y[:1]])
    assert same(trained(data, model=model), trained((words, Y), model=model))


class Rows(torch.utils.data.Dataset):  # type: ignore[misc]
    """A dataset with rows that cannot be read."""

    def __init__(self, odd: dict[int, Any]) -> None:
        self._odd = odd

    def __len__(self) -> int:
        return PEOPLE + len(self._odd)

    def __getitem__(self, place: int) -> Any:
        if place >= PEOPLE:
            found = self._odd[place - PEOPLE]
            if isinstance(found, Exception):
                raise found
            return found
        return X[place], int(Y[place])


@pytest.mark.usefixtures("quiet")
def test_a_dataset_is_read_row_by_row_and_rows_that_are_none_count_for_nothing():
    odd = dict(enumerate([OSError("patient 17"), None, (X[0, :3], 1), (X[0], 1, 2), ("x", 1), (X[0], 0.5)]))
    assert same(trained(Rows(odd), example=(torch.zeros(4), 0)), trained())


@pytest.mark.usefixtures("quiet")
def test_the_first_row_of_a_dataset_does_not_decide_who_counts():
    class Mean(torch.nn.Module):  # type: ignore[misc]
        """Takes rows of any length."""

        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(1, CLASSES)

        def forward(self, rows: Any) -> Any:
            return self.layer(rows.mean(1, keepdim=True))

    torch.manual_seed(1)
    model, example = Mean(), (torch.zeros(4), 0)
    rows = torch.utils.data.Subset(Rows({0: (X[0, :3], 1)}), [PEOPLE, *range(PEOPLE)])
    assert same(trained(rows, model=model, example=example), trained(model=model))
    with pytest.raises(MissingParameter, match="example"):
        trained(rows, model=model)
    with pytest.raises(ParameterError, match="example"):
        trained(rows, model=model, example=3)


class Keeping(torch.nn.Module):  # type: ignore[misc]
    """Keeps what it was given, as people do for plots."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, CLASSES)

    def forward(self, rows: Any) -> Any:
        self.seen = rows.detach()
        return self.layer(rows)


def test_a_trained_model_holds_nothing_that_it_was_given():
    assert not hasattr(trained(model=Keeping()).model, "seen")


def test_dropout_needs_fixed_slots_and_leaves_torchs_generator_alone():
    # masks belong to slots: with a seed that people know, a person who leaves would give everyone another mask
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, CLASSES))
    with pytest.raises(AssumptionFailed, match="dropout"):
        trained(model=model)
    plan = plan_of(PoissonBatches(rate=1, overflow="drop", most_people=100))
    before = torch.get_rng_state()
    found = [trained(model=model, plan=plan, ledger=ledger(1000)) for _ in range(2)]
    assert torch.equal(before, torch.get_rng_state())
    assert not same(*found)


@pytest.mark.usefixtures("quiet")
def test_doubles_and_rows_without_anybody_are_trained_on():
    assert same(trained((X.double(), Y)), trained())
    found = trained((X[:0], Y[:0]))
    assert all(torch.equal(a, b) for a, b in zip(weights(found), network().parameters(), strict=True))


@pytest.mark.usefixtures("quiet")
def test_a_person_with_several_rows_is_clipped_as_one():
    twice = torch.stack([X, X], dim=1), torch.stack([Y, Y], dim=1)
    for mine, theirs in zip(weights(trained(twice, rows=2)), weights(trained()), strict=True):
        assert torch.allclose(mine, theirs, atol=1e-6)
    with pytest.raises(InputError, match="shape"):
        trained((X, Y), rows=2)


def test_an_empty_batch_is_a_step_of_noise_alone():
    plan = plan_of(PoissonBatches(rate=1e-9), noise=IndependentNoise(1.0), divisor=1)
    found = trained(plan=plan)  # someone is drawn with a chance below 2e-7, which changes nothing below
    moved = [(a - b.detach()).abs().max() for a, b in zip(weights(found), network().parameters(), strict=True)]
    assert all(float(one) > 0 for one in moved)


@pytest.mark.parametrize("overflow", ["extend", "drop"])
def test_batches_of_both_kinds_and_noise_of_both_kinds_train(overflow):
    sampler = PoissonBatches(rate=0.3, overflow=overflow, most_people=100)
    for noise in (IndependentNoise(2.0), Float(2.0)):
        assert trained(plan=plan_of(sampler, noise=noise)).taken == STEPS


def test_noise_in_floats_is_refused_by_a_ledger():
    books = ledger()
    with pytest.raises(ParameterError, match=r"exact.*Nothing was spent"):
        trained(plan=plan_of(noise=Float(2.0)), ledger=books)
    assert len(list(books.entries())) == 1


@pytest.mark.usefixtures("quiet")
@pytest.mark.theorem("ExponentialAverage.privacy")
@pytest.mark.theorem("TailAverage.privacy")
@pytest.mark.parametrize("average", [ExponentialAverage(decay=0.5), TailAverage(frequency=0.9)])
def test_averages_change_the_weights_and_not_the_price(average):
    last, averaged = trained(), trained(average=average)
    assert not same(last, averaged)
    assert averaged.guarantee == last.guarantee


@pytest.mark.usefixtures("quiet")
def test_a_tail_average_is_the_mean_of_the_last_weights():
    seen: list[list[Any]] = []

    class Watching(torch.optim.SGD):  # type: ignore[misc]
        def step(self, closure: Any = None) -> Any:
            super().step(closure)
            seen.append([one.detach().clone() for one in self.param_groups[0]["params"]])

    found = trained(average=TailAverage(frequency=0.67), optimizer=lambda given: Watching(given, lr=0.5))
    tail = seen[-2:]
    for mine, *theirs in zip(weights(found), *tail, strict=True):
        assert torch.allclose(mine, torch.stack(theirs).mean(dim=0), atol=1e-7)


BAD: dict[str, tuple[dict[str, Any], type[DiscreetError], str]] = {
    "loader": ({"data": torch.utils.data.DataLoader([1, 2])}, ParameterError, "DataLoader"),
    "sampler": ({"data": torch.utils.data.RandomSampler([1, 2])}, ParameterError, "RandomSampler"),
    "one tensor": ({"data": X}, ParameterError, "one tensor"),
    "three tensors": ({"data": (X, Y, Y)}, ParameterError, "two tensors"),
    "other lengths": ({"data": (X, Y[:-1])}, InputError, "as many inputs as targets"),
    "text": ({"data": "rows"}, ParameterError, "must be rows"),
    "an empty dataset": ({"data": []}, ParameterError, "two tensors"),
    "other width": ({"data": (X[:, :3], Y)}, DiscreetError, "Nothing was spent"),
    "no plan": ({"plan": object()}, ParameterError, "plan must be a Plan"),
    "no model": ({"model": object()}, ParameterError, "torch module"),
    "an optimizer": ({"optimizer": torch.optim.SGD(network().parameters(), lr=1.0)}, ParameterError, "function"),
    "a bad optimizer": ({"optimizer": lambda _: 3}, ParameterError, "made-up gradients"),
    "an optimizer of another model": (
        {"optimizer": lambda _: torch.optim.SGD(network().parameters(), lr=1.0)},
        ParameterError,
        "those of a copy of the model",
    ),
    "no physical size": ({"physical": None}, MissingParameter, "physical=64"),
    "a bad physical size": ({"physical": 0}, ParameterError, "physical"),
    "two physical sizes": (
        {"plan": plan_of(PoissonBatches(rate=0.5, physical=16))},
        ConflictingParameters,
        "one place",
    ),
    "a mean": ({"loss": torch.nn.functional.cross_entropy}, DiscreetError, "one number a row"),
    "BatchNorm": (
        {"model": torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3))},
        ParameterError,
        "statistics of a batch",
    ),
    "no weights": ({"model": torch.nn.Tanh()}, ParameterError, "tensor to train"),
    "average": ({"average": 0.9}, ParameterError, "average"),
    "checkpoint": ({"checkpoint": 5}, ParameterError, "checkpoint"),
    "progress": ({"progress": 5}, ParameterError, "progress"),
    "unit": ({"plan": plan_of(unit="visit")}, ParameterError, "unit must be that of the ledger"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_sentence_before_the_charge(name):
    changed, kind, words = BAD[name]
    books = ledger()
    given = {"optimizer": descent, "physical": 8, "model": network(), "data": (X, Y), "plan": plan_of(), "loss": LOSS}
    given |= changed
    call = [given.pop(one) for one in ("model", "data", "plan", "loss")]
    with pytest.raises(kind, match=words) as problem:
        train(*call, ledger=books, **given)
    assert len(list(books.entries())) == 1
    assert problem.value.__suppress_context__ or problem.value.__context__ is None


class BySlot(torch.nn.Module):  # type: ignore[misc]
    """A model whose rows are rounded otherwise in every other slot, as by libraries of matrix products."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.nn.Linear(4, CLASSES)

    def forward(self, rows: Any) -> Any:
        return self.inner(rows) * (1 + 1e-7 * (torch.arange(len(rows)) % 2)).unsqueeze(1)


def test_a_model_whose_rows_depend_on_their_slots_needs_slots_at_random():
    books = ledger()
    for sampler in (FullBatch(), PoissonBatches(rate=0.5)):
        with pytest.raises(AssumptionFailed, match=r"every slot.*overflow='drop'.*Nothing was spent"):
            trained(model=BySlot(), plan=plan_of(sampler), ledger=books)
    assert len(list(books.entries())) == 1
    everyone = PoissonBatches(rate=1, overflow="drop", most_people=64)
    assert trained(model=BySlot(), plan=plan_of(everyone), ledger=books).guarantee == plan_of().guarantee


def test_books_must_be_there_for_a_checkpoint(tmp_path):
    with pytest.raises(MissingParameter, match="ledger must be given with a checkpoint"):
        trained(checkpoint=tmp_path / "c")


def test_another_relation_than_the_ledgers_is_refused():
    with pytest.raises(RelationMismatch, match="Nothing was spent"):
        trained(ledger=ledger(relation=Relation.CHANGE_ONE))


def test_more_rows_than_the_plan_assumes_are_refused_without_a_number_of_them():
    plan = plan_of(FullBatch(most_people=48))
    with pytest.raises(InputError, match=r"at most 47 rows.*Nothing was spent") as problem:
        trained(plan=plan)
    assert "50" not in str(problem.value)


def test_a_failure_after_the_charge_is_one_constant_message():
    books = ledger()

    class Failing(torch.optim.SGD):  # type: ignore[misc]
        def step(self, closure: Any = None) -> Any:
            super().step(closure)
            if float(self.param_groups[0]["params"][0].grad.abs().max()) != pytest.approx(1e-3):
                raise ValueError("the row of Ms. Miller")

    with pytest.raises(QueryFailed) as problem:
        trained(ledger=books, optimizer=lambda given: Failing(given, lr=1.0))
    assert "Miller" not in str(problem.value)
    assert (problem.value.__cause__, problem.value.__context__) == (None, None)
    assert [entry.fields.get("outcome") for entry in books.entries()][-1] == "failed"


def test_an_interrupted_training_goes_on_and_costs_the_same(tmp_path):
    books, plan = ledger(), plan_of(steps=5)

    def stop(done: int, _: int | None) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trained(plan=plan, ledger=books, checkpoint=tmp_path / "c", progress=stop, average=TailAverage(frequency=0.5))
    found = trained(plan=plan, ledger=books, checkpoint=tmp_path / "c", average=TailAverage(frequency=0.5))
    assert float(books.balance().spent.epsilon) == pytest.approx(plan.guarantee.epsilon)
    assert found.guarantee == plan.guarantee
    again = trained(plan=plan, ledger=books, checkpoint=tmp_path / "c", average=TailAverage(frequency=0.5))
    assert same(found, again)
    assert again.taken == found.taken == 0  # one block of ten steps, begun and lost
    for changed in ({"optimizer": torch.optim.Adam}, {"physical": 16}, {"average": None}):
        with pytest.raises(DiscreetError, match="way of training"):
            trained(**{"plan": plan, "ledger": books, "checkpoint": tmp_path / "c",
                       "average": TailAverage(frequency=0.5), **changed})  # fmt: skip
    with pytest.raises(DiscreetError, match="must be of this model"):
        trained(plan=plan, ledger=books, checkpoint=tmp_path / "c", model=torch.nn.Linear(4, CLASSES))
    with pytest.raises(DiscreetError, match="must be of this plan"):
        trained(plan=plan_of(steps=6), ledger=books, checkpoint=tmp_path / "c")


def test_a_fork_in_the_middle_draws_nothing():
    ends: list[int] = []

    def fork(done: int, _: int | None) -> None:
        if done == 1:
            child = os.fork()
            if child:
                ends.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            else:
                forked.append(True)

    forked: list[bool] = []
    try:
        found = trained(progress=fork)
    except QueryFailed:
        os._exit(7 if forked else 1)
    if forked:
        os._exit(0)
    assert (ends, found.taken) == ([7], STEPS)


def _float_plan() -> Plan:
    return Plan(
        sampler=FullBatch(),
        clip=Clip(1.0),
        noise=Float(2.0),
        steps=2,
        unit="person",
        relation=Relation.ADD_REMOVE,
        divisor=10,
        delta=1e-6,
    )


def _trained_with_floats(data: Any) -> TrainedModel:
    return train(
        torch.nn.Linear(3, 2), data, _float_plan(), CrossEntropy(2),
        optimizer=lambda parameters: torch.optim.SGD(parameters, lr=0.1), physical=16,
    )  # fmt: skip


def test_a_model_trained_with_floating_point_noise_says_that_nothing_is_proven():
    found = _trained_with_floats((torch.zeros(10, 3), torch.zeros(10, dtype=torch.long)))
    assert "not exact" in str(found)
    assert "no guarantee is proven" in str(found)


def test_arrays_are_told_how_to_become_tensors():
    with pytest.raises(ParameterError, match=r"got ndarray and list, write data=\(torch.as_tensor\(X\)"):
        _trained_with_floats((np.zeros((10, 3)), [0] * 10))
    with pytest.raises(ParameterError, match="of another length"):
        _trained_with_floats((torch.zeros(10, 3),))
    for one in (pd.DataFrame({"age": [1, 2]}), np.zeros((10, 3))):
        with pytest.raises(ParameterError, match=rf"got one {type(one).__name__}, write data=\(torch.as_tensor\(X\)"):
            _trained_with_floats(one)

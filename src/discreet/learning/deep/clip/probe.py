"""A probe on made-up rows: the sum is the gradient, and a row's numbers depend on that row alone, to the bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, NamedTuple, Protocol

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from discreet.errors import AssumptionFailed, ParameterError
from discreet.learning.deep.clip.layers import Calls, Part, Tensor
from discreet.learning.deep.clip.made_up import MadeUp

_VECTORS = 64  # numbers that vector units take at once, at most
# functions with the same bits at the end of a tensor: arithmetic, and what was compared number by number
_COMPARED = """
add sub rsub mul div neg abs sign sgn sqrt rsqrt reciprocal square addcmul addcdiv lerp clamp clamp_min clamp_max
maximum minimum where copy _to_copy clone detach alias fill masked_fill zeros_like ones_like eq ne lt le gt ge
logical_and logical_or logical_not bitwise_and bitwise_or bitwise_not isnan relu threshold threshold_backward leaky_relu
leaky_relu_backward hardtanh hardtanh_backward hardswish hardswish_backward hardsigmoid hardsigmoid_backward elu
elu_backward exp expm1 log log1p log2 tanh tanh_backward erf erfc sin cos atan gelu gelu_backward
"""
_ALIKE = frozenset(one.strip("_") for one in _COMPARED.split())
_LITTLE = 2.0**-6  # how far weights are moved in between
_CLOSE = 1e-3  # how far plain floats may be apart; exact sums must agree to the bit


class Probed(Protocol):
    """What the probe asks of a sum."""

    model: Any
    physical: int
    rows: int
    exact: bool
    names: tuple[str, ...]
    parameters: tuple[Tensor, ...]
    slots: list[list[int]]
    loss: Callable[[Any, Any], Any]

    def part(self, place: int, calls: Calls) -> Part:
        """Return the part of a cluster."""

    def run(self, inputs: Any, targets: Any, here: Tensor, ready: Callable[[int, Calls], None]) -> Tensor:
        """Run one pass and return the losses."""


class _Numbers(NamedTuple):
    """What is computed about one unit, what about all, and sums of rounded terms that make up the unit's gradient.

    Such a sum has bits of its own in every slot, where a device adds in another order; its error in any order is part
    of what is stated about sums, and what its terms are made of is among the numbers of the unit.
    """

    own: list[Tensor]
    everyone: list[Tensor]
    sums: list[Tensor]

    def alike(self, other: _Numbers, exact: bool) -> bool:
        """Whether the numbers of the unit are those of another pass."""
        return _same(self.own, other.own, exact) and _same(self.sums, other.sums, False)


def probe(clipped: Probed, made_up: MadeUp) -> bool:
    """Raise unless a model passes on made-up rows; return whether a row's numbers are the same in another slot."""
    units, rows = clipped.physical, clipped.rows
    inputs, targets = made_up.batch(units * rows, seed=1)
    with _untouched_buffers(clipped.model):
        _sum_is_gradient(clipped, inputs, targets)
    if units == 1:
        return True
    middle = units // 2
    mine = slice(middle * rows, (middle + 1) * rows)
    other_inputs, other_targets = made_up.batch(units * rows, seed=2)
    for mixed, kept in zip((*other_inputs, other_targets), (*inputs, targets), strict=True):
        mixed[mine] = kept[mine]
    for weights in (nullcontext(), _moved_weights(clipped.parameters)):
        with weights:
            base = _numbers(clipped, inputs, targets, middle)
            if not base.alike(_numbers(clipped, other_inputs, other_targets, middle), clipped.exact):
                raise _mixes(clipped.exact)
    if clipped.exact and _depends_on_ends(clipped, inputs, targets):
        return False
    return all(_moved_alike(clipped, inputs, targets, middle, by) for by in (1, units - 1))


class _Ends(TorchDispatchMode):  # type: ignore[misc]
    """Watches for functions of single numbers whose tensor has an end that no vector fills."""

    def __init__(self) -> None:
        super().__init__()
        self.found = False

    def __torch_dispatch__(self, function: Any, _: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        known = function.overloadpacket.__name__.strip("_") in _ALIKE and "tanh" not in (kwargs or {}).values()
        if torch.Tag.pointwise in function.tags and not known:
            for one in result if isinstance(result, tuple | list) else (result,):
                floats = isinstance(one, torch.Tensor) and one.is_floating_point() and one.device.type == "cpu"
                self.found |= bool(floats and one.numel() % _VECTORS)
        return result


def _depends_on_ends(clipped: Probed, inputs: Sequence[Tensor], targets: Tensor) -> bool:
    """Whether a function is used whose last few numbers of a tensor are computed by other code than the others.

    The bits of a sigmoid then differ in some slots, for one number in fifty: too few for made-up rows to show.
    """
    with _Ends() as ends:
        _pass(clipped, inputs, targets, lambda *_: None)
    return bool(ends.found)


def _moved_alike(clipped: Probed, inputs: Sequence[Tensor], targets: Tensor, unit: int, by: int) -> bool:
    """Whether the numbers of all units are the same when every unit moves on by some slots.

    With dropout they are not: its masks belong to slots, and a person who leaves would give all others new ones.
    """
    shift = by * clipped.rows
    base = _numbers(clipped, inputs, targets, unit)
    moved = [one.roll(shift, 0) for one in inputs], targets.roll(shift, 0)
    found = _numbers(clipped, *moved, (unit + by) % clipped.physical)
    alike = base.alike(found, clipped.exact)
    return alike and _same([one.roll(by, 0) for one in base.everyone], found.everyone, clipped.exact)


def _numbers(clipped: Probed, inputs: Sequence[Tensor], targets: Tensor, unit: int) -> _Numbers:
    """Return everything that is computed about one unit, its gradient as well, and what is computed about all units."""
    units = clipped.physical
    everyone: list[list[Tensor]] = [[] for _ in clipped.slots]
    mine: list[list[Tensor]] = [[] for _ in clipped.slots]
    sums: list[list[Tensor]] = [[] for _ in clipped.slots]

    def ready(place: int, calls: Calls) -> None:
        for some in calls.values():
            for call in some:
                for axes, values in ((call.input_axes, call.leaves), (call.output_axes, call.signals)):
                    for at, axis in axes.items():
                        if isinstance(values, list) or at in values:
                            everyone[place].append(values[at].movedim(axis, 0).reshape(units, -1).clone())
        part = clipped.part(place, calls)
        everyone[place].append(part.squared.clone())
        only = torch.zeros_like(part.squared)
        only[unit] = 1
        (mine if part.reach is None else sums)[place].extend(part.total(only, None))

    losses = _pass(clipped, inputs, targets, ready).reshape(units, -1)
    together = [one for some in everyone for one in some] + [losses]
    own = [one[unit] for one in together] + [one for some in mine for one in some]
    return _Numbers(own, together, [one for some in sums for one in some])


def _sum_is_gradient(clipped: Probed, inputs: Sequence[Tensor], targets: Tensor) -> None:
    """Raise unless the sum with weights one is the gradient that autograd finds."""
    sums: list[Any] = [None] * len(clipped.parameters)

    def ready(place: int, calls: Calls) -> None:
        part = clipped.part(place, calls)
        for slot, value in zip(clipped.slots[place], part.total(torch.ones_like(part.squared), None), strict=True):
            sums[slot] = value

    losses = _pass(clipped, inputs, targets, ready, keep=True)
    total = losses.sum() / clipped.rows
    plain = torch.autograd.grad(total, clipped.parameters, allow_unused=True)
    for name, value in zip(clipped.names, plain, strict=True):
        if value is None:
            raise ParameterError(
                f"model must use every trained tensor; got no gradient for {name!r}, write requires_grad_(False).",
                parameter="model",
            )
    size = torch.stack([value.norm() for value in plain]).norm()
    if not torch.isfinite(size):
        raise ParameterError(
            "model must have finite gradients on made-up rows; got others, write an example of several made-up rows "
            "whose entries the model can take.",
            parameter="example",
        )
    for name, ours, value in zip(clipped.names, sums, plain, strict=True):
        if not (ours - value).norm() <= _CLOSE * (value.norm() + _CLOSE * size):
            raise ParameterError(
                f"model must use {name!r} in the forward of its own module only; got a gradient from elsewhere, write "
                "a call of the module instead of its tensor.",
                parameter="model",
            )


def _pass(
    clipped: Probed, inputs: Sequence[Tensor], targets: Tensor, ready: Callable[[int, Calls], None], keep: bool = False
) -> Tensor:
    """Run one pass with the same random masks every time."""
    device = clipped.parameters[0].device
    here = torch.ones(len(targets), dtype=torch.bool, device=device)
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(0)  # of dropout in a probe; no noise is drawn from torch's generator
        losses = clipped.run(tuple(inputs), targets, here, ready)
        if not keep:
            return losses
        torch.manual_seed(0)
        with torch.enable_grad():
            return clipped.loss(clipped.model(*inputs), targets)


def _same(one: Sequence[Tensor], other: Sequence[Tensor], exact: bool) -> bool:
    """Whether two lists of numbers agree: to the bit, or nearly in plain floats."""
    if exact:
        return all(_equal(first, second) for first, second in zip(one, other, strict=True))
    return all(
        bool((first - second).double().norm() <= _CLOSE * first.double().norm() + 1e-12)
        for first, second in zip(one, other, strict=True)
    )


def _equal(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors are equal; what is not a number equals itself, as it does where weights were moved."""
    return bool(torch.equal(one, other) or ((one == other) | (one.isnan() & other.isnan())).all())


def _mixes(exact: bool) -> Exception:
    """Return what to raise where a row's numbers change with other rows."""
    if exact:
        return AssumptionFailed(
            "a row's numbers must depend on that row alone, to the bit; got others when other made-up rows changed, "
            "write a model that keeps rows apart and, on CUDA, torch.backends.cudnn.deterministic = True."
        )
    return ParameterError(
        "model must treat every row by itself; got other numbers for a row when other made-up rows changed, write a "
        "model and a loss without statistics of the batch.",
        parameter="model",
    )


@contextmanager
def _moved_weights(parameters: Sequence[Tensor]) -> Iterator[None]:
    """Move all weights a little for a while: some that are zero at first can hide that a model mixes rows."""
    source = torch.Generator().manual_seed(3)
    kept = [one.detach().clone() for one in parameters]
    try:
        with torch.no_grad():
            for one in parameters:
                one.add_(torch.randn(one.shape, generator=source).to(one), alpha=_LITTLE)
        yield
    finally:
        with torch.no_grad():
            for one, value in zip(parameters, kept, strict=True):
                one.copy_(value)


@contextmanager
def _untouched_buffers(model: Any) -> Iterator[None]:
    """Raise if a pass writes a buffer."""
    before = {name: (id(value), value._version) for name, value in model.named_buffers()}
    yield
    for name, value in model.named_buffers():
        if before.get(name) != (id(value), value._version):
            raise ParameterError(
                f"model must not write a buffer while it computes; got {name!r} changed, write the model without it.",
                parameter="model",
            )

"""The sum of clipped gradients of a batch, one backward, plain floats or float64 with a proven error."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any, Protocol

import torch

from discreet.errors import InputError, ParameterError
from discreet.learning.deep.clip.choice import Choice, chosen_ways
from discreet.learning.deep.clip.compiled import as_compiled
from discreet.learning.deep.clip.layers import (
    Arithmetic,
    Calls,
    Layer,
    Part,
    Tensor,
    cluster_part,
    cluster_positions,
    cluster_slots,
    cluster_ways,
    uneven,
)
from discreet.learning.deep.clip.made_up import MadeUp
from discreet.learning.deep.clip.probe import probe
from discreet.learning.deep.clip.recording import Recording
from discreet.learning.deep.clip.replay import Sums, replayed
from discreet.learning.deep.clip.settings import check_model, check_settings, secret_masks
from discreet.learning.deep.clip.survey import ModelSurvey, survey
from discreet.learning.deep.clip.weights import clip_weights, summation_error

Loss = Callable[[Any, Any], Any]


class ClipRule(Protocol):
    """What a clip says: the norm C, and "flat", "per layer" (each of L layers to C / sqrt(L)) or "normalized"."""

    @property
    def norm(self) -> Any:
        """The norm, a number."""

    @property
    def mode(self) -> str:
        """The rule."""


class ClippedSum:
    """Sum the gradients of a batch's people, each cut to a norm, in one forward and one backward.

    The loss returns one number a row. A person is one row, or `rows` rows whose mean gradient is cut. Modules may be
    called several times and share tensors; what is not trained costs nothing. A person whose gradient is not finite
    adds nothing (clipped per layer: to the layers where it is not), and the others add what they add without it, bit
    for bit (on a graphics card words of a table add up in any order, which changes last bits). With `compiled` a call
    is one function made by torch's compiler.

    Privacy. In exact mode the sums S of two batches that differ by one person, all others in the same slots, satisfy
        |S - S'|_2 <= (1 + 2 summation_error) clip.norm.
        Proof: at this fixed number of slots a person's inputs a and output gradients e of each layer depend on the
        person alone (row independence, an assumption; probed on made-up rows) and on masks of dropout that belong to
        its slot, drawn for this call alone without regard to the rows. Weights are computed from these numbers
        in float64 with guards such that w |G|_2 <= clip.norm for the real gradient G that they define (`clip_weights`),
        and S is within summation_error clip.norm of the sum of all w G (`summation_error`), on both batches; the two
        sums of w G differ by one person's.
    Cost. About half a plain step more; `report()` says which way each layer is summed and how long it took.
    Reference. Goodfellow 2015 (norms from inputs and output gradients); Li, Tramer, Liang, Hashimoto 2022 (positions);
        Bu, Wang, Zha, Karypis 2023 (one backward).
    """

    def __init__(
        self,
        model: Any,
        loss: Loss,
        clip: ClipRule,
        *,
        physical: int,
        exact: bool,
        example: tuple[Any, Any],
        rows: int = 1,
        compiled: bool = False,
    ) -> None:
        _check_kinds(model, loss, clip, exact, compiled)
        self.model, self.loss, self.physical, self.rows = (
            model,
            loss,
            _whole("physical", physical),
            _whole("rows", rows),
        )
        self.exact = exact
        self.norm, self._mode = _clip_norm(clip), _clip_mode(clip)
        self._arithmetic = Arithmetic(self.exact)
        self.names, self.parameters = check_model(model, exact=self.exact)
        self._device = self.parameters[0].device
        check_settings(self._device, exact=self.exact)
        self._made_up = MadeUp(example, model, loss, self._device)
        found = survey(model, self.parameters, self.names, self._forward_only, units=self.physical, rows=self.rows)
        self._layers = found.clusters
        self._recording = self._watching(found, [])
        self.slots = [cluster_slots(cluster) for cluster in self._layers]
        self.choices: list[Choice] = []
        self._measure()
        self.slot_independent = probe(self, self._made_up)
        if self.exact and not self.slot_independent:
            self._recording = self._watching(found, [module for module in model.modules() if uneven(module)])
            self.slot_independent = probe(self, self._made_up)
        self._added_up = self._fastest(compiled)

    @property
    def dimension(self) -> int:
        """The number of trained coordinates."""
        return sum(parameter.numel() for parameter in self.parameters)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of coordinates of each group that is clipped by itself: all, or one a layer."""
        sizes = tuple(sum(self.parameters[slot].numel() for slot in slots) for slots in self.slots)
        return sizes if self._mode == "per layer" else (sum(sizes),)

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The places of the tensors of each group that is clipped by itself, in the order of `sizes`."""
        if self._mode == "per layer":
            return tuple(tuple(slots) for slots in self.slots)
        return (tuple(range(len(self.parameters))),)

    @property
    def summation_error(self) -> float:
        """A bound on |S - sum of weighted gradients|_2 in units of the clip norm, for one call; exact mode only."""
        if not self.exact:
            raise ParameterError(
                "summation_error must be asked of exact sums; got plain floats, whose error has no useful bound, write "
                "exact=True.",
                parameter="exact",
            )
        return summation_error(self.physical, self._positions, self._cancels)

    def __call__(self, inputs: Any, targets: Any, present: Tensor) -> list[Tensor]:
        """Return the weighted sums, one tensor a trained parameter; slots where `present` is False add nothing."""
        check_settings(self._device, exact=self.exact)
        here = self._rows_present(present)
        inputs, targets = self._made_up.in_place_of_absent(inputs, targets, here, self.physical * self.rows)
        with torch.no_grad(), secret_masks(self._device):
            return self._added_up(inputs, targets, here)

    def _sums(self, inputs: tuple[Any, ...], targets: Any, here: Tensor) -> list[Tensor]:
        """Return the weighted sums of a batch of the right shape."""
        parts: list[Part | None] = [None] * len(self._layers)
        sums: list[Any] = [None] * len(self.parameters)

        def ready(place: int, calls: Calls) -> None:
            parts[place] = self.part(place, calls)
            if self._mode == "per layer":
                self._add(sums, [place], parts)

        self._run_quietly(inputs, targets, here, ready)
        if self._mode != "per layer":
            self._add(sums, range(len(parts)), parts)
        return sums

    def report(self) -> str:
        """Return a table of the layers: the way each is summed, its milliseconds, the megabytes it keeps."""
        lines = [("layer", "way", "milliseconds", "kept megabytes")]
        for cluster, choice in zip(self._layers, self.choices, strict=True):
            name = " + ".join(layer.name for layer in cluster)
            lines.append((name, choice.way, f"{1e3 * choice.seconds:.2f}", f"{choice.kept_bytes / 1e6:.2f}"))
        widths = [max(len(line[column]) for line in lines) for column in range(4)]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines
        )

    def part(self, place: int, calls: Calls) -> Part:
        """Return the part of a cluster by the way that was chosen."""
        return cluster_part(self._arithmetic, self._layers[place], self.choices[place].way, calls)

    def weights(self, parts: Sequence[Part]) -> tuple[Tensor, Tensor | None]:
        """Return the weight of each unit and the units that are lost, of parts that are clipped together."""
        norm = self.norm / math.sqrt(len(self._layers)) * (1 - 2.0**-50) if self._mode == "per layer" else self.norm
        return clip_weights(
            parts, norm, normalized=self._mode == "normalized", exact=self.exact, traced=self._arithmetic.traced
        )

    def _add(self, sums: list[Any], places: Sequence[int], parts: list[Part | None]) -> None:
        """Sum the parts that are clipped together, the last first, forgetting each as soon as it is summed."""
        weights = self.weights([part for part in (parts[place] for place in places) if part is not None])
        for place in reversed(places):
            part, parts[place] = parts[place], None
            if part is not None:
                for slot, value in zip(self.slots[place], part.total(*weights), strict=True):
                    sums[slot] = value

    def run(self, inputs: tuple[Any, ...], targets: Any, here: Tensor, ready: Callable[[int, Calls], None]) -> Tensor:
        """Run forward and backward, handing on clusters of layers; return the losses."""
        with torch.enable_grad(), self._recording.handing_to(ready, traced=self._arithmetic.traced) as recording:
            losses = self._losses(inputs, targets)
            factors = here.to(losses.dtype)
            recording.backward(losses, factors if self.rows == 1 else factors / self.rows)
            return losses.detach()

    def _fastest(self, compiled: bool) -> Sums:
        """Return the sums as they are, or compiled, or played by the graphics card, as found out on made-up rows."""
        size = self.physical * self.rows
        here = torch.ones(size, dtype=torch.bool, device=self._device)
        values = (*self._made_up.batch(size), here)
        held = (*self.model.parameters(), *self.model.buffers())
        if compiled:
            made = as_compiled(self._steadily, *values)
            return replayed(made, made, values, held=held, exact=False)
        return replayed(self._sums, self._steadily, values, held=held, exact=self.exact)

    def _steadily(self, inputs: tuple[Any, ...], targets: Any, here: Tensor) -> list[Tensor]:
        """Return the weighted sums without a look at any number: where a unit may be lost, all are selected from."""
        usual, self._arithmetic = self._arithmetic, Arithmetic(self.exact, traced=True)
        try:
            return self._sums(inputs, targets, here)
        finally:
            self._arithmetic = usual

    def _watching(self, found: ModelSurvey, evened: list[Any]) -> Recording:
        """Return what watches the trained modules, and computes the products of some in even widths."""
        clusters = [{layer.module: found.axes[layer.module] for layer in cluster} for cluster in found.clusters]
        opaque = [layer.module for cluster in found.clusters for layer in cluster if type(layer) is Layer]
        rows = self.physical * self.rows
        return Recording(clusters, opaque=opaque, tables=found.tables, evened=evened, rows=rows)

    def _run_quietly(self, *arguments: Any) -> None:
        """Run on a batch of people: nothing of it may reach an exception."""
        with suppress(Exception):  # whatever a model raises may hold values, and errors of ours a number of rows
            self.run(*arguments)
            return
        raise InputError(
            "model and loss must take every row of the declared shape; got an error from them, write a loss that gives "
            "a row it cannot use the loss 0, such as those of discreet.learning.deep."
        )

    def _losses(self, inputs: tuple[Any, ...], targets: Any) -> Tensor:
        losses = self.loss(self.model(*inputs), targets)
        count = self.physical * self.rows
        if not isinstance(losses, torch.Tensor) or losses.shape != (count,):
            shape = tuple(losses.shape) if isinstance(losses, torch.Tensor) else type(losses).__name__
            raise ParameterError(
                f"loss must return one number a row, shape ({count},); got {shape}, write reduction='none'.",
                parameter="loss",
            )
        return losses

    def _forward_only(self, size: int) -> None:
        inputs, _ = self._made_up.batch(size)
        with torch.no_grad(), torch.random.fork_rng(devices=_cuda(self._device)):
            self.model(*inputs)

    def _rows_present(self, present: Tensor) -> Tensor:
        """Return which rows count, (physical * rows,)."""
        shapes = ((self.physical,), (self.physical, self.rows))
        fits = isinstance(present, torch.Tensor) and present.dtype == torch.bool
        if not fits or tuple(present.shape) not in shapes:
            raise InputError(
                f"present must be a tensor of {self.physical} truth values, or one a row; got something else, write "
                f"torch.ones({self.physical}, dtype=torch.bool)."
            )
        here = present.to(self._device)
        if self.rows == 1:
            return here.reshape(-1)
        return here.reshape(self.physical, -1).expand(-1, self.rows).reshape(-1)

    def _measure(self) -> None:
        """Choose the way of each cluster by timing on made-up rows, and note the lengths of its sums."""
        size = self.physical * self.rows
        inputs, targets = self._made_up.batch(size)
        here = torch.ones(size, dtype=torch.bool, device=self._device)
        choices: list[Choice | None] = [None] * len(self._layers)
        positions = [1]
        many = [False]

        def ready(place: int, calls: Calls) -> None:
            cluster = self._layers[place]
            count = cluster_positions(cluster, calls)
            ways = cluster_ways(cluster, calls)
            choices[place] = chosen_ways(self._arithmetic, cluster, ways, calls)
            way = choices[place].way  # type: ignore[union-attr]
            if way in ("ghost", "cross", "outer"):
                positions.append(count)
                many.append(count > 1)

        with torch.random.fork_rng(devices=_cuda(self._device)):
            self.run(inputs, targets, here, ready)
        self.choices = [choice for choice in choices if choice is not None]
        self._positions, self._cancels = max(positions), any(many)


def _cuda(device: Any) -> list[Any]:
    return [device] if device.type == "cuda" else []


def _check_kinds(model: Any, loss: Any, clip: Any, exact: Any, compiled: Any) -> None:
    """Raise unless the arguments are of the kinds they must be; what is merely true is not `exact=True`."""
    for name, fits, example in (
        ("model", isinstance(model, torch.nn.Module), "torch.nn.Linear(4, 2)"),
        ("loss", callable(loss), "CrossEntropy(2)"),
        ("clip", hasattr(clip, "norm") and hasattr(clip, "mode"), "Clip(1.0)"),
        ("exact", type(exact) is bool, "True"),
        ("compiled", type(compiled) is bool, "False"),
    ):
        if not fits:
            raise ParameterError(
                f"{name} must be of its kind; got something else, write {name}={example}, for example.", parameter=name
            )
    if compiled and exact:
        raise ParameterError(
            "compiled must be False for exact sums, which are proven of operations as they are written; got True, "
            "write compiled=False, or a plan with noise=Float(...).",
            parameter="compiled",
        )


def _whole(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ParameterError(f"{name} must be a whole number from 1; got {value!r}, write {name}=1.", parameter=name)
    return value


def _clip_norm(clip: ClipRule) -> float:
    norm = float(clip.norm)
    if math.isfinite(norm) and Fraction(norm) > Fraction(clip.norm):
        norm = math.nextafter(norm, 0.0)  # never above what was asked for
    if not 2.0**-300 <= norm <= 2.0**100:
        raise ParameterError(
            f"clip must have a norm between 2^-300 and 2^100; got {norm!r}, write Clip(1.0).", parameter="clip"
        )
    return norm


def _clip_mode(clip: ClipRule) -> str:
    mode = str(getattr(clip.mode, "value", clip.mode))
    if mode not in ("flat", "per layer", "normalized"):
        raise ParameterError(
            f"clip must be 'flat', 'per layer' or 'normalized'; got {mode[:40]!r}, write Clip(1.0).", parameter="clip"
        )
    return mode

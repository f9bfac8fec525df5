"""What a training leaves: the model, and the guarantee that it keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.display.result import told_in_rows
from discreet.privacy import Guarantee
from discreet.privacy.guarantees import with_notion


@told_in_rows
@dataclass(frozen=True, repr=False, eq=False)
class TrainedModel:
    """A model whose weights were released, and what they cost; everything in it may be shown to everybody.

    Args:
        model: the trained module, a copy of the one that was given, with averaged weights where an average was asked.
        plan: the plan that was trained by.
        cost: what the ledger was charged, None where nobody kept books.
        charge: the number of that charge in the ledger.
        taken: how many steps moved the weights; fewer than the plan has where a crash lost some. All were paid for.
    """

    model: Any
    plan: Any
    cost: Guarantee | None
    charge: int | None
    taken: int

    @property
    def guarantee(self) -> Guarantee:
        """What the weights, all steps together, guarantee."""
        guarantee: Guarantee = self.plan.guarantee
        return guarantee

    @property
    def records(self) -> Any:
        """What was released, for a replay of its price."""
        return self.plan.records

    @property
    def steps(self) -> int:
        """The number of steps that were paid for."""
        return int(self.plan.steps)

    def _rows(self) -> list[tuple[str, str | None]]:
        lost = self.steps - self.taken
        return [
            ("model", type(self.model).__name__),
            ("guarantee", with_notion(self.guarantee)),
            ("not exact", None if self.plan.exact else "the noise was floating-point noise: no guarantee is proven"),
            ("charged", None if self.cost is None else with_notion(self.cost)),
            ("steps", f"{self.steps:,}"),
            ("lost", f"{lost:,} of these, to interruptions; they are paid for" if lost else None),
        ]

"""The reconstruction attack as a bundle of SQL texts and the function that decodes their answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike

from discreet.attacks.asking.counting import Bits
from discreet.attacks.reconstructing.weighing import Counts, Weighing


@dataclass(frozen=True, slots=True)
class AttackQueries:
    """SQL texts to ask one by one, each of which counts people by block, and the design that decodes the answers."""

    texts: tuple[str, ...]
    design: Weighing

    def __len__(self) -> int:
        """Return the number of queries."""
        return len(self.texts)

    def __repr__(self) -> str:
        """Say how many queries there are and about how many people."""
        return f"<{len(self.texts)} queries about {self.design.people:,} people in {self.design.blocks} blocks>"

    def decode(self, answers: Sequence[Counts] | ArrayLike) -> Bits:
        """Return everybody's bit from one answer a text: counts in the order of blocks, or a mapping from block.

        Person i, from 0, is the one in block i // q with place i % q + 1, q being the number of queries.
        """
        return self.design.decode(answers)


def attack_queries(people: int, *, queries: int, table: str, secret: str, block: str, place: str) -> AttackQueries:
    """Return the texts of the attack on a table with one row a person, and their decoder.

    `people` and the public columns are what the attacker knows. `block` numbers the blocks from 0 and `place` the
    people of a block from 1 to `queries`; both may be expressions (see `Question.sql`).

    >>> attack = attack_queries(5040, queries=63, table="patients", secret="marker", block="practice", place="card")
    >>> attack
    <63 queries about 5,040 people in 80 blocks>
    >>> print(attack.texts[2])
    SELECT practice AS block, COUNT(*) AS people FROM patients
    WHERE marker = 1 AND (((card >> 0) + (card >> 1)) & 1) = 1 GROUP BY practice
    """
    design = Weighing(people=people, queries=queries)
    names = {"table": table, "secret": secret, "block": block, "place": place}
    return AttackQueries(tuple(design.texts(names)), design)

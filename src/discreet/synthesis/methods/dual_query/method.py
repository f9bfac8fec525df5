"""DualQuery: draw the queries that are answered worst, add a record that answers them, and repeat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.display import Progress, silent
from discreet.errors import ConflictingParameters, LedgerMismatch, MissingParameter, ParameterError
from discreet.laws import SignedDraws
from discreet.laws.number import Number, positive_rational
from discreet.privacy import GaussianDP
from discreet.privacy.numbers import whole
from discreet.synthesis.base import Allowance, Neighbors, Synthesizer, SyntheticRelease
from discreet.synthesis.domain import Codes, Records, SyntheticTable
from discreet.synthesis.methods.dual_query.drawing import integer_scores
from discreet.synthesis.methods.dual_query.price import Accounting, DualQueryPrice, afford, affords, parameters
from discreet.synthesis.methods.dual_query.theorem import TheoremError, bound_for
from discreet.synthesis.methods.dual_query.transcript import (
    Evidence,
    MemoryTranscript,
    Round,
    Transcript,
    most_likely,
    net_signs,
)
from discreet.synthesis.responses import best_response, exact_response, upper_bound
from discreet.synthesis.workloads import Workload, require_own

_CERTIFIED_ROUNDS, _CERTIFIED_DRAWS = 8, 1 << 14  # a linear program of some thousand draws takes seconds
_SPARE = 3  # other records a round that answer its draws well, for the support of the weights
_PLAYED_SHARE = 0.7
_CONFIDENCE = Fraction(95, 100)  # of the error that is foreseen in words


class Responder(Enum):
    """Who answers the drawn queries."""

    ASCENT = "ascent over attributes"
    EXACT = "integer program"


class Weights(Enum):
    """How the records count in the table."""

    LIKELY = "most likely given the draws"
    EQUAL = "all alike"


@dataclass(frozen=True, kw_only=True)
class DualQuery(Synthesizer):
    """Release a workload by playing a game between queries and records.

    Each round draws queries with chances that grow with how far they are answered too low (or, negated, too high) by
    the records so far, and adds the record that satisfies most of the draws. `LIKELY` weights then make the draws,
    which are known to everybody, as likely as possible on the records found; `EQUAL` ones are those of the paper.

    Privacy. The draws of all rounds together keep the guarantee of `DualQueryPrice`, and all else is computed from
        them.
        Proof: round t draws independently with chance proportional to exp(sign L(q)), L(q) = eta ((t - 1) ((2c -
        N)/(2n) + 1/2) - S(q)), n the public number of people, c the count of q, N the number of records, S(q) how many
        of the t - 1 records played satisfy q. Given the earlier draws S is fixed, and one unit moves 2c - N by at most
        swing (see `Neighbors`), so every L moves by at most eta (t - 1) swing/(2n), up or down: the losses of two
        outcomes differ by at most eta (t - 1) swing/n, which is the range that `DualQueryPrice` adds up. The draws are
        exact (`SignedDraws`); scores are exact integers times eta/(2n), of any size. A plan whose draws cost more than
        its price cannot be made; how many draws there are, and when, follows from the plan alone, whatever the records.
    Accuracy. With `EQUAL` weights, `error` bounds all errors at once, by the theorem of `dual_query_error`; with
        `LIKELY` ones they are measured.
    Cost. A round reads every query once; memory is proportional to the workload, never to the domain.
    Reference. Gaboardi, Gallego Arias, Hsu, Roth, Wu 2014.
    """

    name: ClassVar[str] = "dual query"
    workload: Workload
    allowance: Allowance
    eta: Fraction
    draws: tuple[int, ...]
    accounting: Accounting = Accounting.ZCDP
    oracle: Responder = Responder.ASCENT
    weights: Weights = Weights.LIKELY
    certify: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "eta", positive_rational(self.eta, name="eta"))
        object.__setattr__(self, "draws", tuple(whole(count, name="draws") for count in self.draws))
        if self.certify != 0:
            whole(self.certify, name="certify")
        if not isinstance(self.oracle, Responder) or not isinstance(self.weights, Weights):
            raise ParameterError("oracle must be a Responder, and weights must be Weights", parameter="weights")
        if len(self.draws) < 2:
            raise ParameterError("rounds must be at least 2: the first one costs nothing and tells nothing")
        self.workload.literals.check(self.workload.domain)  # cells too many to list are refused before they are paid
        if not affords(self.allowance, self.price):
            raise ParameterError("these draws cost more than the price allows: use DualQuery.of", parameter="draws")

    @classmethod
    def of(
        cls,
        workload: Workload,
        neighbors: Neighbors,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
        accounting: Accounting | None = None,
        eta: Number | None = None,
        rounds: int | None = None,
        oracle: Responder = Responder.ASCENT,
        weights: Weights = Weights.LIKELY,
        certify: int | None = None,
    ) -> DualQuery:
        """State the price; the learning rate, the rounds and the draws follow by a public rule where not given.

        Args:
            workload: the queries.
            neighbors: who is protected, with the public number of people.
            epsilon: the price; alone it is pure, with `delta` approximate.
            delta: goes with `epsilon`.
            rho: the price as zCDP, instead.
            mu: the price as Gaussian DP, instead.
            accounting: how the draws are added up; concentrated by default, pure for a pure price.
            eta: the learning rate.
            rounds: how often to play.
            oracle: who answers the draws.
            weights: how the records count.
            certify: the number of rounds, at most eight, in which a linear program bounds how much better a record
            could be.
        """
        allowance = Allowance.of(neighbors, epsilon=epsilon, delta=delta, rho=rho, mu=mu)
        way = accounting or (Accounting.PURE if allowance.pure else Accounting.ZCDP)
        if allowance.pure != (way is Accounting.PURE):
            wrong = ConflictingParameters if allowance.pure else MissingParameter
            raise wrong("the pure accounting needs epsilon= alone, the others delta=, rho= or mu=", parameter="delta")
        if (rho is not None or mu is not None) and way is not Accounting.ZCDP:
            word = "rho" if mu is None else "mu"
            raise ConflictingParameters(f"{word}= is counted by the concentrated accounting", parameter="accounting")
        rate = None if eta is None else positive_rational(eta, name="eta")
        length = None if rounds is None else whole(rounds, name="rounds")
        if length is not None and length < 2:
            raise ParameterError("rounds must be at least 2: the first one costs nothing and tells nothing")
        fast = Accounting.ZCDP if way is Accounting.CERTIFIED else way
        found = parameters(len(workload), afford(allowance, fast), eta=rate, rounds=length)
        draws = afford(allowance, way)(found.eta, found.rounds) if way is not fast else found.draws
        return cls(
            workload=workload, allowance=allowance, eta=found.eta, draws=(draws,) * found.rounds, accounting=way,
            oracle=oracle, weights=weights, certify=_certified_rounds(draws) if certify is None else certify,
        )  # fmt: skip

    @property
    def price(self) -> DualQueryPrice:
        """What the draws cost, by the chosen accounting."""
        return DualQueryPrice(self.eta, len(self.draws), self.draws, self.allowance.neighbors, self.accounting)

    @property
    def slope(self) -> Fraction:
        """What the integer scores are multiplied by: eta/(2n)."""
        return self.eta / (2 * self.allowance.neighbors.people)

    @property
    def plan(self) -> Mapping[str, Any]:
        """The public parameters."""
        return {
            "eta": self.eta, "rounds": len(self.draws),
            "draws": self.draws[0] if len(set(self.draws)) == 1 else self.draws,
            "accounting": self.accounting.value, "oracle": self.oracle.value, "weights": self.weights.value,
            "certify": self.certify,
        }  # fmt: skip

    def error(self, confidence: Number, *, gap: Number = 0) -> TheoremError:
        """Return what the accuracy theorem says about this plan, from its own parameters; no data is read.

        The result says when the theorem is vacuous, which it is unless rounds and draws are many. `gap` is the share of
        a round's draws by which its record falls short of the best one, on average; `Responder.EXACT` has none. The
        table is taken to have the public number of records.
        """
        bound = bound_for(self.workload, self.eta, len(self.draws), self.draws, gap, confidence)
        return TheoremError(bound, float(confidence), self.weights is Weights.EQUAL, float(gap))

    @property
    def foreseen(self) -> str:
        """What is known about the errors before data is read, in words."""
        return str(self.error(_CONFIDENCE))

    @property
    def terms(self) -> Mapping[str, Any]:
        """What a transcript must have been begun with to be one of this release: all that its draws depend on."""
        guarantee = self.guarantee
        names = ("epsilon", "delta", "rho", *(("mu",) if isinstance(guarantee, GaussianDP) else ()))
        numbers = [str(Fraction(getattr(guarantee, name, 0))) for name in names]
        return {
            "method": self.name, "workload": self.workload.digest, "neighbors": repr(self.allowance.neighbors),
            "guarantee": [type(guarantee).__name__, *numbers],
            **{name: str(value) for name, value in self.plan.items()},
        }  # fmt: skip

    @property
    def certified(self) -> frozenset[int]:
        """The rounds whose record is compared with a bound, evenly over the run."""
        rounds = len(self.draws)
        count = min(self.certify, rounds)
        return frozenset(rounds * part // count for part in range(1, count + 1))

    def _release(self, records: Records, progress: Progress) -> SyntheticRelease:
        return self.continued(records, MemoryTranscript(), progress=progress)

    def continued(self, records: Records, transcript: Transcript, *, progress: Progress = silent) -> SyntheticRelease:
        """Go on from the rounds that a transcript holds; each new round is announced first, and kept before it is used.

        A transcript says in which terms it was begun, and others are refused; which table it was begun on it does not
        say, as nothing may that depends on records. Rounds of two tables together keep the guarantee for both.
        """
        require_own(self.workload, records)
        transcript.begin(self.terms)
        self._require_own(transcript.rounds)
        game = _Game(self, records)
        for turn in range(1, len(self.draws) + 1):
            if len(transcript.rounds) < turn:
                transcript.announce(turn)
                transcript.append(game.draw(turn))
            game.answer(transcript.rounds[turn - 1])
            progress(turn, len(self.draws))
        return self._finished(game, transcript.rounds)

    def _require_own(self, rounds: Sequence[Round]) -> None:
        """Refuse rounds that this plan cannot have drawn."""
        fits = len(rounds) <= len(self.draws) and all(
            one.number == turn and len(one) == count and int(one.queries.max()) < len(self.workload)
            for turn, (one, count) in enumerate(zip(rounds, self.draws, strict=False), start=1)
        )
        if not fits:
            raise LedgerMismatch("the transcript holds rounds that this release does not draw. Nothing was drawn.")

    def _finished(self, game: _Game, rounds: Sequence[Round]) -> SyntheticRelease:
        played = len(self.draws)
        equal = self.weights is Weights.EQUAL
        support = Records(self.workload.domain, np.stack(game.played if equal else game.played + game.spare, axis=1))
        weights = None
        if not equal:
            shares = np.full(len(support), (1 - _PLAYED_SHARE) / max(len(game.spare), 1))
            shares[:played] = _PLAYED_SHARE / played
            weights = most_likely(Evidence.of(self.workload, support, rounds, float(self.eta)), shares)
        evidence = {"transcript": tuple(rounds), "gaps": tuple(game.gaps)}
        return self._made(SyntheticTable(support, weights), self.workload.frequencies(support, weights), evidence)


@dataclass(slots=True)
class _Game:
    """The state of a run: what is private stays in `_counts`; the rest follows from the draws."""

    rules: DualQuery
    records: Records
    played: list[Codes] = field(default_factory=list)
    spare: list[Codes] = field(default_factory=list)
    gaps: list[tuple[int, float]] = field(default_factory=list)
    _counts: NDArray[np.int64] = field(init=False)
    _satisfied: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        self._counts = self.rules.workload.counts(self.records)
        self._satisfied = np.zeros(len(self.rules.workload), dtype=np.int64)

    def scores(self, turn: int) -> NDArray[Any]:
        """Return 2n/eta times L of every query: private."""
        people = self.rules.allowance.neighbors.people
        return integer_scores(self._counts, len(self.records), turn=turn, sums=self._satisfied, people=people)

    def draw(self, turn: int) -> Round:
        """Draw the queries of a round; the only step that uses private counts."""
        queries, signs = SignedDraws(self.scores(turn), self.rules.slope).draw(self.rules.draws[turn - 1])
        return Round(turn, queries, signs.astype(np.int8))

    def answer(self, drawn: Round) -> None:
        """Add the record that satisfies most of the draws."""
        rules, workload = self.rules, self.rules.workload
        queries, weights = net_signs(drawn)
        queries, weights = queries[weights != 0], weights[weights != 0]  # without those that cancel
        response = best_response(workload, queries, weights, turn=drawn.number)
        record, value = response.record, response.value
        if rules.oracle is Responder.EXACT:
            optimum = exact_response(workload, queries, weights, known=record)
            record, value, bound = optimum.record, optimum.value, optimum.bound
            self.gaps.append((drawn.number, (bound - value) / len(drawn)))
        elif drawn.number in rules.certified:
            bound = upper_bound(workload, queries, weights)
            self.gaps.append((drawn.number, (bound - value) / len(drawn)))
        self.played.append(record)
        self._satisfied += workload.truths(record)
        if rules.weights is Weights.LIKELY:
            for other in range(1, _SPARE + 1):
                turn = drawn.number + other * len(rules.draws)
                self.spare.append(best_response(workload, queries, weights, turn=turn, starts=1, work=1).record)


def _certified_rounds(draws: int) -> int:
    """Return in how many rounds the records are compared with a bound, if nobody says."""
    return min(_CERTIFIED_ROUNDS, max(1, _CERTIFIED_DRAWS // draws))

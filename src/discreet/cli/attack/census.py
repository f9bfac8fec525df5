"""`discreet attack census`: what the tables of an invented block prove about its people, and what private ones do."""

from __future__ import annotations

from pathlib import Path

import click

from discreet import attacks
from discreet.attacks.census import COUNTED_IN, counted
from discreet.cli import options
from discreet.cli.attack import telling
from discreet.cli.console import Chapter, ReadableConsole, answering, spinner
from discreet.data import CensusBlock, census_block
from discreet.display import Table, format_number
from discreet.errors import InputError
from discreet.mechanisms import Laplace
from discreet.privacy import Norm, Relation, Sensitivity

_SURELY = 1 - 1e-6
_MOST_CLAIMS = 6


@options.command()
@telling.people(30, least=1, most=100)
@telling.seed()
@options.stated("--least", click.IntRange(1, 100), 3, "Smallest group with ages.")
@telling.epsilon(1e-3, 1e3, "Price of all counts.")
@options.plot_to()
def census(people: int, seed: int, least: int, epsilon: float, plot_file: Path | None) -> None:
    """Prove who lives in an invented block, from the tables that are published about it.

    Takes some seconds, ten for a hundred people.
    """
    with answering():
        block = census_block(people, seed=seed)
        with spinner(ReadableConsole(), "Solving integer programs"):
            found = attacks.reconstruct_block(attacks.block_tables(block, least=least), truth=block)
            face, read = _private(block, epsilon)
        told = [_proven(found), _claims(found), _noised(epsilon, face, read)]
        telling.tell(told, plot=found.plot, plot_file=plot_file)


def _private(block: CensusBlock, epsilon: float) -> tuple[str, str]:
    """Attack private counts: taken at face value, and within the error that they have for almost certain."""
    sensitivity = Sensitivity(COUNTED_IN, norm=Norm.L1, relation=Relation.ADD_REMOVE)
    mechanism = Laplace(epsilon=epsilon, sensitivity=sensitivity)
    reach = mechanism.error(_SURELY, len(list(counted())))
    return _outcome(block, mechanism, 0.0), _outcome(block, mechanism, float(reach))


def _outcome(block: CensusBlock, mechanism: Laplace, within: float) -> str:
    """Return what is proven by private counts, in words."""
    try:
        found = attacks.reconstruct_block(attacks.noised_block_tables(block, mechanism, within=within), truth=block)
    except InputError:
        return "no block agrees with them"
    return f"{found.proven:,} people, right if the error is within {format_number(within, digits=3)}"


def _proven(found: attacks.BlockReconstruction) -> Chapter:
    """Tell how much is proven."""
    low, high = found.apart
    differ = f"{high:,}" if low == high else f"{low:,} to {high:,}"
    return Chapter(
        "A census block that does not exist",
        (
            f"{found.people:,} invented people live in it. {found.statements:,} numbers about them are published: "
            "counts by sex, race, origin and age, and mean and median ages. Integer programs search all blocks that "
            "agree with every one of these numbers.",
        ),
        Table(
            ["what", "people"],
            [
                ["proven, with age, sex, race and origin", found.proven],
                ["of one block that agrees, who exist", found.matched],
                ["most in which two such blocks differ", differ],
            ],
        ),
        (
            "One block that agrees is no proof: some of its people may not exist. Proven are those whom all have."
            if not found.unique
            else "Only one block agrees: everybody is proven.",
        ),
    )


def _claims(found: attacks.BlockReconstruction) -> Chapter:
    """Show some of what an attacker can swear to; these people are invented."""
    claims = found.claims()
    more = len(claims) - _MOST_CLAIMS
    return Chapter(
        "What an attacker can swear to",
        (),
        Table(["a person who is", "at least"], [[words, count] for words, count in claims[:_MOST_CLAIMS]]),
        (f"And {more} more.",) if more > 0 else (),
    )


def _noised(epsilon: float, face: str, read: str) -> Chapter:
    """Tell what private tables prove."""
    return Chapter(
        f"The same counts, private: epsilon {format_number(epsilon)}",
        (
            f"A person is in at most {COUNTED_IN} counts, so that Laplace noise of scale {COUNTED_IN}/epsilon makes "
            "all of them private together.",
        ),
        Table(["how they are read", "proven"], [["at face value", face], ["within their error", read]]),
    )

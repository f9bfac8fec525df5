"""Tables of public attributes by a secret bit give the bits away once there are more counts than half of the people."""

from __future__ import annotations

from itertools import combinations

import duckdb
import numpy as np
import pytest

import discreet as dp
from discreet.attacks import (
    Conjunctions,
    FitDistance,
    exact_answers,
    from_marginals,
    least_eigenvalue,
    noisy_answers,
    sql_answers,
)
from discreet.attacks.reconstructing.marginals import squares_in_the_box
from discreet.errors import InputError, ParameterError


def people_of(people: int, attributes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    return random.integers(0, 2, (people, attributes)), random.integers(0, 2, people)


def test_the_counts_are_those_of_the_conjunctions():
    attributes, secret = people_of(50, 6, 1)
    design = Conjunctions(attributes, ways=3)
    expected = [
        (secret * attributes[:, list(chosen)].all(axis=1)).sum()
        for size in range(4)
        for chosen in combinations(range(6), size)
    ]
    assert design.exact(secret).tolist() == expected
    assert len(design) == 1 + 6 + 15 + 20
    assert design.people == 50


def test_the_sql_of_a_conjunction_counts_what_is_exact():
    attributes, secret = people_of(40, 5, 2)
    columns = {f"a{place}": attributes[:, place].copy() for place in range(5)} | {"marker": secret}
    with duckdb.connect() as connection:
        connection.register("arrays", columns)
        connection.execute("CREATE TABLE people AS SELECT * FROM arrays")
        names = {"table": "people", "secret": "marker", "attribute": "a"}
        ask = sql_answers(lambda text: connection.execute(text).fetchall(), **names)
        design = Conjunctions(attributes)
        assert np.array_equal(ask(design), exact_answers(secret)(design))


@pytest.mark.parametrize("fit", FitDistance)
def test_exact_tables_give_everybody_away(fit):
    attributes, secret = people_of(150, 22, 3)
    found = from_marginals(exact_answers(secret), attributes, fit=fit, error=0, truth=secret)
    assert found.queries == 1 + 22 + 231 > found.people
    assert found.recovered == 1.0
    assert found.floor == 1.0


def test_fewer_counts_than_people_are_enough_and_fewer_than_half_are_not():
    people = 1200
    shares = []
    for attributes in (25, 45):  # 326 and 1036 counts
        public, secret = people_of(people, attributes, 4)
        shares.append(from_marginals(exact_answers(secret), public, error=0, truth=secret).recovered)
    assert shares[0] < 0.9
    assert shares[1] == 1.0


@pytest.mark.theorem("from_marginals.accuracy")
@pytest.mark.parametrize("error", [0.05, 0.2, 1.0])
@pytest.mark.parametrize("fit", FitDistance)
def test_no_errors_within_the_bound_leave_less_than_what_is_certain(error, fit):
    attributes, secret = people_of(60, 25, 5)
    design = Conjunctions(attributes)
    matrix, eigenvalue = design.matrix().astype(np.float64), least_eigenvalue(design.gram())
    solve = np.linalg.pinv(matrix)
    _, _, directions = np.linalg.svd(matrix, full_matrices=False)
    random = np.random.default_rng(6)
    aimed = [(1 - 2 * secret) @ solve, matrix @ directions[-1], solve[3], random.normal(size=len(design))]
    for errors in (error * np.sign(one) for one in aimed):
        ask = noisy_answers(secret, lambda counts, errors=errors: counts + errors)
        found = from_marginals(ask, attributes, fit=fit, error=error, truth=secret)
        length = float(np.linalg.norm(errors))
        residual = float(np.linalg.norm(design.times(found.estimates) - design.exact(secret) - errors))
        assert found.wrong <= 4 * (residual + length) ** 2 / eigenvalue
        if fit is FitDistance.SQUARES:
            assert found.wrong <= 4 * (length * 1.001) ** 2 / eigenvalue
        if found.floor is not None:
            assert found.recovered >= found.floor
    if error == 0.05:
        assert found.floor is not None


def test_the_fit_in_the_box_is_the_best_there():
    from scipy.optimize import lsq_linear

    attributes, secret = people_of(80, 18, 7)
    design = Conjunctions(attributes)
    answers = design.exact(secret) + np.random.default_rng(1).uniform(-3, 3, len(design))
    found = squares_in_the_box(design.gram(), design.transposed(answers))
    best = lsq_linear(design.matrix().astype(np.float64), answers, bounds=(0, 1)).x
    assert found == pytest.approx(best, abs=1e-2)


def test_private_tables_give_hardly_anything_away():
    people = 400
    attributes, secret = people_of(people, 30, 8)
    counts = len(Conjunctions(attributes))
    sensitivity = dp.Sensitivity(counts, norm=dp.Norm.L1, relation=dp.Relation.ADD_REMOVE)
    mechanism = dp.Laplace(epsilon=1, sensitivity=sensitivity)
    found = from_marginals(noisy_answers(secret, mechanism), attributes, truth=secret, loss=mechanism.loss)
    # given the release and the other bits no bit is known with more than e/(1 + e), the ceiling of pure privacy: by
    # Azuma's inequality over 400 people the share passes it by .23 with a chance below 1e-18
    assert found.recovered <= found.ceiling.upper + 0.23
    assert found.ceiling.upper < 0.74


@pytest.mark.parametrize("attributes", [[0, 1], [[0, 2]], [[0.0, 1.0]], np.zeros((0, 3), dtype=int), [["a"]]], ids=str)
def test_attributes_that_are_no_matrix_of_bits_are_refused(attributes):
    with pytest.raises(InputError, match="zeros and ones"):
        Conjunctions(attributes)


@pytest.mark.parametrize(("shape", "ways"), [((6000, 3), 2), ((10, 200), 4), ((10, 3), 0), ((10, 3), 1.5)])
def test_tables_that_are_too_large_or_no_tables_are_refused(shape, ways):
    with pytest.raises(ParameterError, match="ways"):
        Conjunctions(np.zeros(shape, dtype=int), ways=ways)


def test_a_fit_must_be_named():
    attributes, secret = people_of(5, 4, 1)
    with pytest.raises(ParameterError, match=r"FitDistance\.SQUARES"):
        from_marginals(exact_answers(secret), attributes, fit="squares")


def test_more_ways_than_attributes_are_all_of_them():
    assert len(Conjunctions([[1, 0], [0, 1]], ways=10**9)) == 4


def test_rows_of_different_lengths_are_refused():
    with pytest.raises(InputError, match="one length"):
        Conjunctions([[1, 0], [1]])

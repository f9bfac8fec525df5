"""The CP-SAT side of the benchmark of best responses, run in its own environment: a JSON request and reply a line."""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from typing import Any

from ortools.sat.python import cp_model  # type: ignore[import-not-found]


def solve(attributes: int, products: list[list[list[int]]], weights: list[int], seconds: float) -> dict[str, float]:
    """Maximize the weight of products of literals [attribute, wanted bit], on one thread."""
    model = cp_model.CpModel()
    bits = [model.new_bool_var("") for _ in range(attributes)]
    columns = []
    for product, weight in zip(products, weights, strict=True):
        literals = [bits[place] if wanted else bits[place].negated() for place, wanted in product]
        column = model.new_bool_var("")
        if weight > 0:
            model.add_bool_and(literals).only_enforce_if(column)
        else:
            model.add_bool_or([column, *(one.negated() for one in literals)])
        columns.append(column)
    model.maximize(sum(weight * column for weight, column in zip(weights, columns, strict=True)))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_time_in_seconds = seconds
    solver.solve(model)
    return {"value": solver.objective_value, "bound": solver.best_objective_bound}


def answer(request: dict[str, Any]) -> Any:
    """Return the version, or a value and a bound."""
    return version("ortools") if request.pop("task") == "version" else solve(**request)


def main() -> None:
    """Answer requests until the input ends."""
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()

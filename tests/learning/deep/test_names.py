"""Names of the deep floors: plans without torch, and the extra that brings it where it is missing."""

from __future__ import annotations

import subprocess
import sys


def said(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    return done.stdout.strip()


def test_learning_and_plans_never_read_torch():
    code = "import sys, discreet.learning; from discreet.learning.deep import Plan, Clip; print('torch' in sys.modules)"
    assert said(code) == "False"


def test_where_torch_is_missing_the_extra_is_named_and_plans_are_made_all_the_same():
    code = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
sys.meta_path.insert(0, Missing())
from discreet.learning import deep
from discreet.errors import MissingExtra
print(deep.Clip(1.0).norm)
for name in sorted(set(deep.__all__) - set(deep._PLANS)):
    try:
        getattr(deep, name)
    except MissingExtra as problem:
        assert "discreet[deep]" in str(problem), problem
    else:
        print(name)
"""
    assert said(code) == "1.0"


def test_only_names_of_plans_are_said_to_need_no_torch():
    from discreet.learning import deep
    from discreet.learning.deep import plan

    assert all(hasattr(plan, name) for name in deep._PLANS)
    assert [name for name in deep.__all__ if hasattr(plan, name) and name not in deep._PLANS] == []

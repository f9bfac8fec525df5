"""Commands of an analyst: explain, ask, budget, synthesize."""

from __future__ import annotations

from discreet.cli.asking.options import FILE, decorated, json_option, policy_option

__all__ = ["FILE", "decorated", "json_option", "policy_option"]

"""The adversary: attacks that succeed on plain answers, and the ceiling that a price sets for all of them."""

from __future__ import annotations

from discreet.attacks.ceiling import Flip, ceiling
from discreet.attacks.questions import AttackQueries, attack_queries
from discreet.attacks.reconstruction import Reconstruction, least_squares
from discreet.attacks.targets import Ask, exact_answers, noisy_answers, sql_answers
from discreet.attacks.weighing import Question, Weighing, expected_fraction

__all__ = [
    "Ask",
    "AttackQueries",
    "Flip",
    "Question",
    "Reconstruction",
    "Weighing",
    "attack_queries",
    "ceiling",
    "exact_answers",
    "expected_fraction",
    "least_squares",
    "noisy_answers",
    "sql_answers",
]

"""Noisy answers to the workload itself, made consistent afterwards."""

from __future__ import annotations

from discreet.synthesis.methods.answers.noisy import Given, NoisyAnswers

__all__ = ["Given", "NoisyAnswers"]

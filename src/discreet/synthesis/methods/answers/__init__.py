"""Noisy answers to the workload itself, made consistent afterwards."""

from discreet.synthesis.methods.answers.noisy import AnswerSource, NoisyAnswers

"""Answers: what an analyst receives, with error bars, a certificate and a plot."""

from discreet.query.answer.answer import Answer, Certificate, Record, data_of, plain

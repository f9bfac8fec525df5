"""Answers: what an analyst receives, with error bars, a certificate and a plot."""

from discreet.query.answer.after_release import finish
from discreet.query.answer.answer import Answer, Record, plain
from discreet.query.answer.certificate import Certificate

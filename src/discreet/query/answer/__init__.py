"""Answers: what an analyst receives, with error bars, a certificate and a plot."""

from discreet.query.answer.after_noise import Rounding, check_rounding, finished
from discreet.query.answer.answer import Answer
from discreet.query.answer.certificate import Certificate
from discreet.query.answer.ends import plain
from discreet.query.answer.record import Record, data_of
from discreet.query.answer.union import UnionAnswer, guarantee_together, put_together

"""After the noise: what is computed from a released table at no price, and how exact it is."""

from discreet.query.answer.after_noise.derived import Derived
from discreet.query.answer.after_noise.rounding import Rounding, check_rounding
from discreet.query.answer.after_noise.steps import Finished, finish, finished

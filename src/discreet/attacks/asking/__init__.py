"""How an attacker asks: counting queries, targets, noise and what a table is read as."""

from discreet.attacks.asking.cell_numbers import cells, coded, distinct, paired
from discreet.attacks.asking.columns import Columns, array_of, columns_of
from discreet.attacks.asking.counting import (
    Bits,
    CountingQueries,
    Floats,
    Integers,
    named,
    number_of,
    numbers_of,
    secret_bits,
)
from discreet.attacks.asking.noise import Noise, garbage, gaussian_noise, malicious_noise, sign_noise, uniform_noise
from discreet.attacks.asking.targets import (
    Ask,
    Charged,
    Run,
    asked,
    counted,
    exact_answers,
    noisy_answers,
    noisy_run,
    session_answers,
    sql_answers,
)

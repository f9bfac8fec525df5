"""What a statistic costs, and the noise that its answers carry together."""

from discreet.statistics.pricing.combined_noise import (
    combination_quantile,
    mean_of_population,
    normal_with_noise_quantile,
)
from discreet.statistics.pricing.noisy_vector import NoisyVector
from discreet.statistics.pricing.price import (
    choosable,
    epsilon_of,
    expected_rows,
    priced_noise,
    stated_confidence,
    stated_relation,
    stated_switch,
)

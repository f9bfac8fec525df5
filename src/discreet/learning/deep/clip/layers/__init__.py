"""The layers that are trained, and the norms and weighted sums of their gradients."""

from discreet.learning.deep.clip.layers.arithmetic import Arithmetic, Part, Tensor, gamma
from discreet.learning.deep.clip.layers.layer import Call, Layer, layer_class
from discreet.learning.deep.clip.layers.linear import even_product, uneven
from discreet.learning.deep.clip.layers.tied import Calls, cluster_part, cluster_positions, cluster_slots, cluster_ways

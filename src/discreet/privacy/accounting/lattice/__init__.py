"""The certified tilted lattice: any composition of loss pairs, bounded from above and from below on a grid."""

from discreet.privacy.accounting.lattice.answers import enclose_delta, enclose_epsilon

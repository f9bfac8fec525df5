"""Laws of additive noise on the integers and on a grid."""

"""Sums of counts: messages up a tree of them, draws and exact laws down."""

from discreet.bayes.counts.trees.solved import SolvedTree
from discreet.bayes.counts.trees.sums import CellPart, SumPart, TreePart, balanced, nested

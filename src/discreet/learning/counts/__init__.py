"""Models made of one release of counts or class sums, the same whether numpy or a database adds them up."""

from discreet.learning.counts.categorical_nb import CategoricalNB
from discreet.learning.counts.gaussian_nb import GaussianNB
from discreet.learning.counts.nearest_centroid import NearestCentroid
from discreet.learning.counts.trees import DecisionTreeClassifier, RandomForestClassifier

"""Data augmentation: the latent records themselves are drawn, under any model of them that can be written down."""

from discreet.bayes.referee.augmentation import DataAugmentation
from discreet.bayes.referee.ready import BernoulliRecords, CategoricalRecords, NormalRecords
from discreet.bayes.referee.record_model import RecordModel

"""Which of scikit-learn's own checks a private estimator must fail, and why: the one place.

A check that fails here for another reason, or one that is not listed, is a defect.
"""

from __future__ import annotations

from sklearn.base import is_classifier

_VALUES = "a refusal would tell about values, which are private: such a row counts for nothing, and nobody is told"
_CLASSES = "the classes are declared, three integers, and not read off the labels, which here are others or fewer"
_NOISE = "two fits of the same rows differ by their noise"
_ACCURACY = "the rows of the check are too few for the price: the answer is mostly noise"

# Refusals that would depend on private values.
PRIVATE_VALUES = {
    "check_dtype_object": _VALUES,
    "check_estimators_empty_data_messages": "whether a table is empty is private: the answer is noise",
    "check_classifiers_regression_target": _VALUES,
    "check_supervised_y_no_nan": _VALUES,
}
# Classes that were declared otherwise.
DECLARED_CLASSES = {
    "check_classifiers_classes": _CLASSES,
    "check_classifiers_train": _CLASSES,
    "check_decision_proba_consistency": _CLASSES,
}
# What noise alone breaks.
NOISE = {
    "check_fit_idempotent": _NOISE,
    "check_supervised_y_2d": _NOISE,
    "check_classifier_data_not_an_array": _NOISE,
    "check_regressor_data_not_an_array": _NOISE,
    "check_transformer_data_not_an_array": _NOISE,
    "check_transformer_general": _NOISE,
    "check_regressors_int": _NOISE,
    "check_pipeline_consistency": _NOISE,
    "check_classifiers_one_label": _ACCURACY,
    "check_regressors_train": _ACCURACY,
}
# Of one estimator alone.
_LABELS = "labels_ would tell the clusters of the rows of the fit, which are private: there is none"
_WITH_MEAN = (
    "the check knows StandardScaler by its name and sets with_mean, which ours has not; sparse rows are refused"
)
_PAIRS = "the check sets n_components to 1, and waves come in pairs, a cosine and a sine"
ITS_OWN = {
    "KMeans": {"check_clustering": _LABELS},
    "StandardScaler": {"check_estimator_sparse_array": _WITH_MEAN, "check_estimator_sparse_matrix": _WITH_MEAN},
    "FourierFeatures": dict.fromkeys(
        [
            "check_dont_overwrite_parameters",
            "check_fit2d_1feature",
            "check_fit2d_1sample",
            "check_fit2d_predict1d",
            "check_methods_sample_order_invariance",
            "check_methods_subset_invariance",
        ],
        _PAIRS,
    ),
}


def expected_failures(model: object, *, noise: bool) -> dict[str, str]:
    """Return the checks that fail for a private estimator, with the reason; those that noise breaks only with noise."""
    expected = PRIVATE_VALUES | ITS_OWN.get(type(model).__name__, {})
    if is_classifier(model):
        expected |= DECLARED_CLASSES
    return expected | NOISE if noise else expected

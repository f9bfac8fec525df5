"""Models from noisy sums and Gram matrices: ridge regression, principal components, scaling and k-means."""

from discreet.learning.moments.ada_ssp import AdaSSP
from discreet.learning.moments.k_means import KMeans
from discreet.learning.moments.pca import PCA
from discreet.learning.moments.ridge import Ridge
from discreet.learning.moments.standard_scaler import StandardScaler

"""Programs that read a `LikelihoodTable`: shares of people in groups, for three languages, to be changed at will."""

NUMPYRO = '''\
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from jax.scipy.special import gammaln, logsumexp


def model(table, people):
    """Shares of people: one a group, uniform beforehand."""
    counts = jnp.asarray(table.counts)
    ways = gammaln(people + 1.0) - gammaln(counts + 1.0) - gammaln(people - counts + 1.0)
    share = numpyro.sample("share", dist.Beta(1.0, 1.0).expand([counts.shape[0]]).to_event(1))
    people_given_share = counts * jnp.log(share)[:, None] + (people - counts) * jnp.log1p(-share)[:, None]
    released_given_share = logsumexp(jnp.asarray(table.log_likelihood) + ways + people_given_share, axis=1)
    numpyro.factor("release", released_given_share.sum())
'''
"""A model for numpyro; run it with jax in 64 bits, four chains, and look at the tails' effective draws."""

PYMC = '''\
import pymc
import pytensor.tensor as pt


def model(table, people):
    """Shares of people: one a group, uniform beforehand."""
    counts = pt.as_tensor_variable(table.counts)
    ways = pt.gammaln(people + 1.0) - pt.gammaln(counts + 1.0) - pt.gammaln(people - counts + 1.0)
    with pymc.Model() as made:
        share = pymc.Beta("share", 1.0, 1.0, shape=counts.shape[0])
        people_given_share = counts * pt.log(share)[:, None] + (people - counts) * pt.log1p(-share)[:, None]
        released_given_share = pt.logsumexp(table.log_likelihood + ways + people_given_share, axis=1)
        pymc.Potential("release", released_given_share.sum())
    return made
'''
"""The same for PyMC."""

STAN = """\
data {
  int<lower=1> groups;
  int<lower=1> counts;
  int<lower=0> people;
  array[groups] real released;
  array[groups] int start;
  array[groups, counts] real log_likelihood;
}
parameters {
  vector<lower=0, upper=1>[groups] share;
}
model {
  share ~ beta(1, 1);
  for (group in 1:groups) {
    vector[counts] terms;
    for (step in 1:counts) {
      int count = start[group] + step - 1;
      terms[step] = log_likelihood[group, step] + binomial_lpmf(count | people, share[group]);
    }
    target += log_sum_exp(terms);
  }
}
"""
"""The same for Stan; its data are `table.to_stan()` and `people`."""

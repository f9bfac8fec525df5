"""Tracing: whether a person was in the data, from what was published about it."""

from discreet.attacks.tracing.membership_attack import Membership, TracingStatistic, area_ceiling, membership
from discreet.attacks.tracing.publishing import PrivateFrequencies, Publish, Rounded, exactly, gaussian_mu
from discreet.attacks.tracing.synthetic import (
    MembershipScore,
    TableLinkage,
    TableMembership,
    advantage_ceiling,
    area_ceiling_of,
    link_synthetic,
    table_membership,
)

"""What the package offers to the outside."""

from __future__ import annotations

from discreet.privacy import adaptive


def test_every_exported_name_exists_and_is_documented():
    assert list(adaptive.__all__) == sorted(adaptive.__all__)
    for name in adaptive.__all__:
        assert getattr(adaptive, name).__doc__

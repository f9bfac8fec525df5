"""What the room offers to the outside."""

from __future__ import annotations

import discreet.privacy


def test_every_exported_name_exists_and_is_documented():
    assert list(discreet.privacy.__all__) == sorted(
        discreet.privacy.__all__, key=lambda name: (not name.isupper(), name)
    )
    for name in discreet.privacy.__all__:
        assert getattr(discreet.privacy, name).__doc__

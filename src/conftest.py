"""Which source files pytest reads examples from: those of the deep floors only where torch is installed."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore_glob = (
    [] if find_spec("torch") else ["discreet/learning/deep/*", "discreet/attacks/models/network_audit.py"]
) + ([] if find_spec("triton") else ["discreet/learning/deep/*_kernel.py"])

"""Commands of an analyst: explain, ask, budget, synthesize."""

from discreet.cli.asking.options import FILE, decorated, json_option, policy_option

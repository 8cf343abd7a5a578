"""The policy of an application that offers `read_file`."""

from __future__ import annotations

from attrs import evolve

from trimtab import Policy
from trimtab.policy import ToolPolicy
from trimtab_fs.names import READ_FILE

__all__ = ["policy_with_fs"]


def policy_with_fs(policy: Policy | None = None) -> Policy:
    """The policy (None: the default one) with `read_file` as a read-back tool: whole in prompts, slim in rows.

    The same as in TOML::

        [tools.read_file]
        exempt = true

    What the policy says of `read_file` otherwise stays.
    """
    policy = Policy() if policy is None else policy
    own = evolve(policy.for_tool(READ_FILE) or ToolPolicy(), exempt=True)
    others = {name: table for name, table in policy.tools.items() if name != READ_FILE}
    return evolve(policy, tools={**others, READ_FILE: own})

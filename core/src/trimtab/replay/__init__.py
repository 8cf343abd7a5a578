"""Replays sessions: what trimtab would have sent in place of an agent's requests, and what that saves.

::

    session = session_of(json.load(open("conversation.json")))
    with Host.load("memory:") as host:
        report = replay(session, host, ServeSettings(folds=FoldSettings(windows=200_000)))
    print(report.raw.cost, report.served.cost)
"""

from __future__ import annotations

from trimtab.replay.report import Cost, Replayed, Report, Side, Totals, replay
from trimtab.replay.rules import RULES, CacheRule, rule_for, rule_named
from trimtab.replay.serving import Sent, ServeSettings
from trimtab.replay.sessions import Session, session_of

__all__ = [
    "RULES",
    "CacheRule",
    "Cost",
    "Replayed",
    "Report",
    "Sent",
    "ServeSettings",
    "Session",
    "Side",
    "Totals",
    "replay",
    "rule_for",
    "rule_named",
    "session_of",
]

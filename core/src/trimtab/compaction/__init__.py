"""Compaction that survives: old turns become a summary, with nothing lost.

`DurableCompactor` folds between turns and gives a record to be stored; `LoopCompactor` folds inside a turn; `slide` is
the window without a summarizer. All work on the messages of any wire protocol, and send what is not folded as it came.
"""

from __future__ import annotations

from trimtab.compaction.asking.reply import parse_summary
from trimtab.compaction.durable import DurableCompactor, Served
from trimtab.compaction.loop import LoopCompactor, Stepped
from trimtab.compaction.measuring.usage import tokens_of
from trimtab.compaction.repair import Repair
from trimtab.compaction.settings import Budgets, FoldSettings
from trimtab.compaction.stored.archive import Archive, archive_of, archive_row
from trimtab.compaction.stored.manifests import Retained
from trimtab.compaction.stored.memo import Memo, dump_memo, load_memo
from trimtab.compaction.stored.record import Archived, Blob, FoldRecord, dump_record, dump_row, load_record, load_row
from trimtab.compaction.types import Attachment, Event, Row, SummaryRequest
from trimtab.compaction.window import Slid, slide

__all__ = [
    "Archive",
    "Archived",
    "Attachment",
    "Blob",
    "Budgets",
    "DurableCompactor",
    "Event",
    "FoldRecord",
    "FoldSettings",
    "LoopCompactor",
    "Memo",
    "Repair",
    "Retained",
    "Row",
    "Served",
    "Slid",
    "Stepped",
    "SummaryRequest",
    "archive_of",
    "archive_row",
    "dump_memo",
    "dump_record",
    "dump_row",
    "load_memo",
    "load_record",
    "load_row",
    "parse_summary",
    "slide",
    "tokens_of",
]

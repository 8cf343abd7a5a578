"""How large a prompt is: what the provider counted, and estimates of the rest."""

from __future__ import annotations

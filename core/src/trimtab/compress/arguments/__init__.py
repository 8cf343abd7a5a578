"""Reads the arguments of a `compress` call, however damaged: `parse` is the entrance, `explain` tells what was wrong.

The way of a text: `parse` tries strict JSON and the plain call (`direct`); `reading` goes on with what is left.
Documents are found in a text (`documents`, by its `tokens`; `standing`, `buried`, `quoted`, `regions`), calls in values
(`calls`, `parts`), entries in calls (`elements`, `entries`, `lines`).
"""

"""Readers of streamed responses, sans-IO: `feed` what came, cut anywhere; `close` gives the calls.

Laws: a reader never raises for what the wire carries, and works in linear time without recursion. How it was cut does
not matter: bytes, text, pieces of any size, LF, CRLF or CR give the same calls. Arguments are never repaired: pieces
are joined, and what is damaged or cut off gives what could be read, with `complete=False`. An id that never came is
made from the call's place, name and arguments, never at random.

Each protocol's reader is in the module of its name; `source` turns what came into events, `drafts` collects calls.
"""

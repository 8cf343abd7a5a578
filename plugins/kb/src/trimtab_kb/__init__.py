"""trimtab for kb_search: result type, codec, checked citations."""

"""trimtab for web_search and web_fetch: result types, codecs, checked citations."""

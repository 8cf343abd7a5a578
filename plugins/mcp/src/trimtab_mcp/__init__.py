"""trimtab for the results of MCP tools."""

"""Tool definitions: our own (`tools`), and what providers make of any (`checking`, by the rules in `sanitisers`)."""

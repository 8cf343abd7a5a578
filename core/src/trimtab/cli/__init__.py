"""The command line. `start` is its door; everything else is imported by the command that needs it."""

"""trimtab for files: working fs_read, read_file and search tools."""

"""From a full text and a cap to the excerpt that stands in its place: edges, then ranges, then the string."""

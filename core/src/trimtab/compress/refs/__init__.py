"""Which message is which: what each is known by, and the numbers by which a model names them."""

"""Built for no GPU."""

cuda = None
hip = None

"""The version of a build without GPU support."""

cuda = None
hip = None

"""A stand-in without a GPU."""


def is_available():
    return False

"""No GPU."""


def is_available():
    return False

"""The error that the command prints."""


class Failure(Exception):
    """Something that the user can change; the text says what."""

"""A base class."""


class Module:
    pass

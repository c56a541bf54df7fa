"""A stand-in for the base class Module."""


class Module:
    pass

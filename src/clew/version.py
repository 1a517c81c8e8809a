"""The version of Clew, apart from the package's `__init__`, so that nothing below has to import that."""

__version__ = "0.1.0"

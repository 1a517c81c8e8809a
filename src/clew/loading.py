"""One lock for reading NumPy's files: their headers go through Python's parser.

Two threads of CPython 3.11 that parse at once may end in a SystemError (AST constructor recursion depth).
"""

from threading import RLock

LOADING = RLock()

"""Work that is many independent pieces: in threads or processes of this machine, or on a Ray cluster.

A piece is done by the same function wherever it is done, and results come in the order of the pieces, so that
one core, many processes and many machines write the same bytes. `base.py` has the protocol, `local.py` the
processes, `on_ray.py` the cluster; `memory.py` says what memory a process has,
`processors.py` how many processors, `locks.py` who writes a file.
"""

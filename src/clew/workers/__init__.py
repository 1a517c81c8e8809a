"""Work that is many independent pieces: in threads or processes of this machine, or on a Ray cluster.

A piece is done by the same function wherever it is done, and results come in the order of the pieces, so that
one core, many processes and many machines write the same bytes. `base.py` has the protocol, `local.py` the
processes, `on_ray.py` the cluster, `piece.py` what a worker there runs, `parent.py` what ends a process
with the one that started it.
"""

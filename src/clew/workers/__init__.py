"""Work that is many independent pieces: in threads or processes of this machine, or on a Ray cluster.

A piece is done by the same function wherever it is done, and results come in the order of the pieces, so that
one core, many processes and many machines write the same bytes. `base.py` has the protocol and
the processes of this machine, `on_ray.py` the cluster.
"""

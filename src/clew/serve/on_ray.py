"""The server as an application of Ray Serve: replicas on the nodes of a cluster, behind Ray's proxy.

Each replica is the same ASGI application as a process of `clew serve`, opens its graphs itself, and takes up
new generations of their indexes. Ray starts a replica again that ends, and sends requests to those that
answer.
"""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Callable
from typing import Any

from starlette.types import ASGIApp

from clew.errors import ClewError, MissingExtra
from clew.serve.app import GRACE
from clew.serve.settings import ServeSettings
from clew.workers.on_ray import ClusterError

APPLICATION = "clew"
"""The application in the cluster: the same command given again takes its place, replica by replica."""
_FAILED = "Clew could not start on node "


def serve_on_ray(
    make: Callable[[], ASGIApp], settings: ServeSettings, started: Callable[[str], None]
) -> None:
    """Run replicas in the cluster that this process is connected to, until SIGINT or SIGTERM.

    `make` puts the application together, in each replica anew; `started` is called with the address.

    Raises MissingExtra without Ray Serve, ClusterError with what ended a replica at its start.
    """
    try:
        from ray import serve
    except ImportError as error:
        raise MissingExtra("ray[serve]", "ray-serve") from error
    logging.getLogger("ray.serve").setLevel(logging.WARNING)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    serve.start(http_options={"host": settings.host, "port": settings.port, "location": "HeadOnly"})
    try:
        serve.run(_application(serve, make, settings), name=APPLICATION, route_prefix="/")
        started(f"http://{settings.host}:{settings.port}")
        threading.Event().wait()
    except RuntimeError as error:  # of Ray, with what was raised in a replica
        raise _failure(_explain_failure(serve, str(error))) from error
    except KeyboardInterrupt:  # the way to end it, and no error
        pass
    finally:
        serve.delete(APPLICATION)


def _explain_failure(serve: Any, message: str) -> str:  # noqa: ANN401
    """What Ray says of the application; what was raised in a replica stands with its deployment."""
    application = serve.status().applications.get(APPLICATION)
    return (
        message
        if application is None
        else "\n".join([*(d.message for d in application.deployments.values()), message])
    )


def _failure(text: str) -> ClusterError:
    line = next((each for each in text.splitlines() if _FAILED in each), text.strip()[-500:])
    return ClusterError(_FAILED + line.partition(_FAILED)[2] if _FAILED in line else line)


def _application(serve: Any, make: Callable[[], ASGIApp], settings: ServeSettings) -> Any:  # noqa: ANN401
    """What Ray runs: `settings.workers` replicas of a core each."""

    def application() -> ASGIApp:  # sent whole, as Ray wants a function
        import ray

        try:
            return make()
        except ClewError as error:
            raise RuntimeError(f"{_FAILED}{ray.util.get_node_ip_address()}: {error}") from error

    class Server:
        """A replica."""

    limits = settings.limits
    deployment = serve.deployment(
        serve.ingress(application)(Server),
        name="server",
        num_replicas=settings.workers,
        ray_actor_options={"num_cpus": 1},
        max_constructor_retry_count=2,
        max_ongoing_requests=limits.threads + limits.waiting,
        graceful_shutdown_timeout_s=GRACE,
        health_check_period_s=5.0,
        health_check_timeout_s=60.0,
    )
    return deployment.bind()

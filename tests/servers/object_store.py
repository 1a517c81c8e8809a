"""A real S3 server on localhost (moto), which can be told to refuse, or to cut replies off in the middle.

with object_store() as store: store.put(folder, "bucket/kb.clew") …
"""

import contextlib
import threading
from dataclasses import dataclass, field
from pathlib import Path

KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1"}
REFUSAL = b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"


@dataclass
class ObjectStore:
    """What it was asked for, and what it does amiss."""

    address: str = ""
    refuses: bool = False
    cuts: str = ""
    """What the paths contain whose replies break off in the middle."""
    times: int = 1_000
    """How often."""
    got: list[str] = field(default_factory=list)

    def put(self, folder: Path, place: str) -> None:
        """Copy a folder there, as `aws s3 sync` does."""
        import s3fs

        keys = {"key": "test", "secret": "test"}
        store = s3fs.S3FileSystem(endpoint_url=self.address, skip_instance_cache=True, **keys)
        bucket = place.split("/")[0]
        if not store.exists(bucket):
            store.mkdir(bucket)
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            store.pipe_file(f"{place}/{file.relative_to(folder)}", file.read_bytes())

    def around(self, app):
        """The server's application with its faults."""

        def served(environ, start):
            path = environ["PATH_INFO"]
            if environ["REQUEST_METHOD"] == "GET":
                self.got.append(path)
            if self.refuses:
                start(
                    "403 Forbidden",
                    [("content-type", "application/xml"), ("content-length", str(len(REFUSAL)))],
                )
                return [] if environ["REQUEST_METHOD"] == "HEAD" else [REFUSAL]
            body = app(environ, start)
            if self.cuts and self.times and self.cuts in path and environ["REQUEST_METHOD"] == "GET":
                self.times -= 1
                whole = b"".join(body)
                return [whole[: len(whole) // 2]]
            return body

        return served


@contextlib.contextmanager
def object_store(patch):
    """Start one, and have the environment name it."""
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import WSGIRequestHandler, make_server

    class Quiet(WSGIRequestHandler):
        protocol_version = "HTTP/1.0"

        def log(self, *_):
            """Say nothing."""

    store = ObjectStore()
    app = store.around(DomainDispatcherApplication(create_backend_app))
    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=Quiet)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    store.address = f"http://127.0.0.1:{server.server_port}"
    for name, value in {**KEYS, "AWS_ENDPOINT_URL": store.address}.items():
        patch.setenv(name, value)
    try:
        yield store
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

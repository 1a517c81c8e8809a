"""An HTTP server that answers as a test wants it to."""

import ssl
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

CERTIFICATE = Path(__file__).with_name("localhost.pem")


@contextmanager
def answering(answer, *, tls=False):
    """An HTTP server that calls `answer(handler)` for every request; yields its SPARQL address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            answer(self)

        def do_POST(self):
            self.body = self.rfile.read(int(self.headers["content-length"]))
            answer(self)

        def log_message(self, *_):
            """Say nothing."""

    server = ThreadingHTTPServer(("localhost", 0), Handler)
    server.handle_error = lambda *_: None
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATE)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"sparql+http{'s' if tls else ''}://localhost:{server.server_port}/sparql"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def reply(status, media, body, **headers):
    def answer(handler):
        handler.send_response(status)
        handler.send_header("content-type", media)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return answer

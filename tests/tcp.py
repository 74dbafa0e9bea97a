"""TCP servers between the service and an engine, for faults that no engine has on request, and
HTTP servers in threads."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from socketserver import TCPServer


@contextmanager
def in_thread(server: TCPServer) -> Iterator[str]:
    """Runs a server of `http.server` or werkzeug; its URL."""
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.socket.getsockname()[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


@contextmanager
def listening(serve: Callable[[socket.socket], None], port: int = 0) -> Iterator[int]:
    """Calls `serve` with each connection, in a thread of its own; the port, any free one for 0."""
    listener = socket.create_server(("127.0.0.1", port))

    def handle(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            serve(connection)

    def accept() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                threading.Thread(target=handle, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    yield listener.getsockname()[1]
    # close() alone would leave the thread in accept(), and the port open with it.
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def forward(
    near: socket.socket,
    address: tuple[str, int],
    passes: Callable[[bytes], bool] = lambda data: True,
) -> None:
    """Forwards both ways until a side ends, or `passes` is false for what is received."""

    def copy(source: socket.socket, target: socket.socket) -> None:
        # ValueError: a TLS socket that was closed meanwhile.
        with suppress(OSError, ValueError):
            while (data := source.recv(65_536)) and passes(data):
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    with socket.create_connection(address) as far:
        replies = threading.Thread(target=copy, args=(far, near), daemon=True)
        replies.start()
        copy(near, far)
        replies.join()

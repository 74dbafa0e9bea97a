"""Whether a kept connection can be used."""

import socket

from app.sockets import is_readable


def test_a_socket_is_readable_when_something_was_received_or_the_other_side_has_closed() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert not is_readable(ours)
        theirs.sendall(b"x")
        assert is_readable(ours)
        ours.recv(1)
        assert not is_readable(ours)
        theirs.close()
        assert is_readable(ours)

"""What takes longer than the tests of every change may: `make test-slow`."""

from tests.live.conftest import post_oids, server, start

__all__ = ["post_oids", "server", "start"]

"""The command line: `python -m devstack up|down|status|exports|run|test`."""

import argparse
import os
import sys
from collections.abc import Callable

from devstack import commands
from devstack.errors import DevstackError
from devstack.places import find_places
from devstack.signals import Stopped, stoppable
from devstack.stack import Stack

_COMMANDS: dict[str, Callable[[Stack], int]] = {
    "up": commands.up,
    "down": commands.down,
    "status": commands.status,
    "exports": commands.exports,
    "run": commands.run,
}

_EPILOG = """\
Environment: ELASTICSEARCH_URL, REDIS_URL (used as they are, nothing is started for them);
KEEP_SERVICES=1 (run and test leave running what they started); CHROMIUM;
BLOGSEARCH_DEVSTACK_DIR, _INSTANCE, _BACKEND (process or container), _ELASTICSEARCH_PORT,
_REDIS_PORT.
"""


def main(arguments: list[str]) -> int:
    """Carry out one command; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m devstack",
        description="A real Elasticsearch and a real Redis on this machine.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    inner = parser.add_subparsers(dest="command", required=True)
    for name, function in _COMMANDS.items():
        inner.add_parser(name, help=function.__doc__)
    inner.add_parser("test", help=f"{commands.test.__doc__} pytest's arguments follow a --")
    # Split here: how argparse treats what follows a -- is not the same in all Python versions.
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    parsed = parser.parse_args(arguments[:cut])
    os.umask(0o022)  # what root unpacks, the engines' user must be able to read
    try:
        with stoppable():
            stack = Stack(find_places(os.environ), os.environ)
            if parsed.command == "test":
                return commands.test(stack, arguments[cut + 1 :])
            return _COMMANDS[parsed.command](stack)
    except DevstackError as error:
        print(f"devstack: {error}", file=sys.stderr)
        return 1
    except Stopped as stopped:
        return 128 + stopped.number


sys.exit(main(sys.argv[1:]))

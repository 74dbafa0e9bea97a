"""What goes wrong while engines are brought up; each is told in one message."""

from pathlib import Path


class DevstackError(Exception):
    """The root. The message says what was wrong, what to do, and which log has more."""


class NotAnswering(DevstackError):
    """Nothing that speaks the engine's protocol answers at an address."""


def with_log(message: str, log: Path, lines: int = 8) -> str:
    """The message, the end of the log and the log's path."""
    try:
        tail = log.read_text(errors="replace").strip().splitlines()[-lines:]
    except OSError:
        tail = []
    quoted = "".join(f"\n    {line[:300]}" for line in tail)
    return f"{message}{quoted}\n  The whole log: {log}"

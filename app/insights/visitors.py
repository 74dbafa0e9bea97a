"""Which requests are searches of people who agree to be counted. Pure."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

# Programs name themselves. A client without a browser's User-Agent counts as a program.
_PROGRAM = re.compile(
    r"(?<!cu)bot(?:\b|[/;_-])|crawl|spider|slurp|scrap|archive|preview|monitor|uptime|pingdom|headless"
    r"|lighthouse|facebookexternalhit|feed|curl|wget|python|urllib|httpx|aiohttp|go-http-client"
    r"|java/|okhttp|libwww|ruby|php|axios|node|undici|werkzeug|postman|https?://",
    re.IGNORECASE,
)


class Visitor(NamedTuple):
    """What tells the searches of one client from those of others, for less than a minute."""

    address: str
    user_agent: str


def visitor_of(environ: Mapping[str, Any]) -> Visitor | None:
    """The visitor of a WSGI request; None for one that is not counted.

    Not counted are programs, pages that a browser loads in advance, and visitors who send
    `DNT: 1` or `Sec-GPC: 1`.
    """
    if environ.get("HTTP_DNT") == "1" or environ.get("HTTP_SEC_GPC") == "1":
        return None
    if "prefetch" in environ.get("HTTP_SEC_PURPOSE", ""):
        return None
    user_agent = environ.get("HTTP_USER_AGENT", "")
    if is_program(user_agent):
        return None
    return Visitor(environ.get("REMOTE_ADDR", ""), user_agent)


@lru_cache(maxsize=1024)
def is_program(user_agent: str) -> bool:
    """Whether a User-Agent is that of a program and not of a browser."""
    return not user_agent.startswith(("Mozilla/", "Opera/")) or bool(_PROGRAM.search(user_agent))

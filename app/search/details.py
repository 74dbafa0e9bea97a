"""What is shown beside the hits: matching comments, and the counts by category and year."""

from dataclasses import replace

from app.search import facets
from app.search.answer import Outcome
from app.search.comments import commented, comments_search, read_comments
from app.search.filters import post_filters
from app.search.session import SearchSession


def added(session: SearchSession, outcome: Outcome) -> Outcome:
    """The outcome with its comments and facets, from one request; none is sent for neither."""
    plan = outcome.plan
    posts = commented(outcome.hits)
    # Where filters leave nothing, the counts tell what another choice would find.
    filtered = post_filters(plan.request, plan.language)
    wants_facets = plan.request.facets and bool(outcome.count or filtered)
    searches = [comments_search(plan, posts)] if posts else []
    searches += [facets.facets_search(plan, outcome.needed)] if wants_facets else []
    if not searches:
        return outcome
    responses = session.send("details", *searches)
    comments = read_comments(responses[0]) if posts else {}
    counted = facets.read(responses[-1]) if wants_facets else None
    return replace(outcome, comments=comments, facets=counted)

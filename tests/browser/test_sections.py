"""The address of a section leads a browser to it."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page

from app.search.render import MARK, UNMARK, excerpts, with_text_fragment
from indexer.posts.html_text import readable

FAR = "<p style='height: 2000px'>Far.</p>"


@pytest.mark.parametrize(
    ("heading", "link"),
    [
        ("Web <i>Workers</i>, a-b &amp; c", ""),
        ("Workers", "<a style='opacity: 0'>¶</a>"),
        ("配置 Workers 选项", ""),
    ],
)
def test_a_text_fragment_leads_to_the_heading(
    page: Page, blog: Callable[..., str], heading: str, link: str
) -> None:
    body = f"{FAR}<p>Another end.</p><h2>{{0}}</h2><p>First words.</p><h3>Next</h3>{FAR}"
    text = readable(body.format(heading))
    marked = text.prose.replace("Workers", f"{MARK}Workers{UNMARK}")
    headings: list[Any] = [
        {name: getattr(one, name) for name in one.__slots__} for one in text.headings
    ]
    _, [(passage, _)] = excerpts({"text": marked}, headings)
    post = blog(body.format(heading + link))
    page.goto(blog(f'<a href="{passage.url(post).replace("&", "&amp;")}">Go</a>'))
    page.click("a")
    page.wait_for_function("document.readyState === 'complete' && scrollY > 0")
    top = page.evaluate("document.querySelector('h2').getBoundingClientRect().top")
    assert 0 <= top < 900


@pytest.mark.parametrize(
    ("html", "excerpt"),
    [
        ("<p>A <b>cone</b> bends &amp; tells you-all, she said; it is hot now.</p>",
         "A {cone} bends"
         " & tells you-all, she said; it is hot now."),
        ("<pre>heat = 900\nfor kiln in kilns:\n    fire(kiln, heat)</pre>",
         "heat = 900\nfor kiln in kilns:\n    {fire}(kiln, heat)"),
        ("<p>One two three four five six, seven eight.</p><p>Nine ten eleven twelve thirteen.</p>",
         "… three four five six, {seven} eight.\nNine ten eleven twelve …"),
        ("<p>陶器在窑中慢慢加热。锥体会弯曲，然后告诉你温度。</p>",
         "陶器在{窑}中慢慢加热。锥体会弯曲，然后告诉你温度。"),
    ],
)  # fmt: skip
def test_a_text_fragment_leads_to_the_excerpt(
    page: Page, blog: Callable[..., str], html: str, excerpt: str
) -> None:
    post = blog(f"<h2 id=top>Top</h2>{FAR}<div id=there>{html}</div>{FAR}")
    marked = excerpt.replace("{", MARK).replace("}", UNMARK)
    address = with_text_fragment(f"{post}#top", marked)
    page.goto(blog(f'<a href="{address.replace("&", "&amp;")}">Go</a>'))
    page.click("a")
    page.wait_for_function("document.readyState === 'complete' && scrollY > 1000")
    top = page.evaluate("document.querySelector('#there').getBoundingClientRect().top")
    assert 0 <= top < 900

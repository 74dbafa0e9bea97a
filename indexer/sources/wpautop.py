"""What WordPress does to a text when it shows it: paragraphs out of blank lines, shortcodes.

Only as far as a search can tell the difference: where one paragraph ends and the next begins, what
is code, and no `[gallery ids="1,2"]` among the words.
"""

import re

_PRE = re.compile(r"(<pre\b.*?</pre\s*>)", re.DOTALL | re.IGNORECASE)
_CODE = re.compile(r"\[(code|sourcecode)\b[^\]]*\](.*?)\[/\1\]", re.DOTALL | re.IGNORECASE)
_SHORTCODE = re.compile(
    r"\[/?(?:caption|wp_caption|gallery|embed|audio|video|playlist|youtube|vimeo|more|contact-form|"
    r"contact-form-7|vc_\w+|et_pb_\w+|su_\w+)\b[^\]]*\]",
    re.IGNORECASE,
)
_BLANK_LINE = re.compile(r"\n[ \t]*\n\s*")


def paragraphs(text: str) -> str:
    """HTML with its blank lines made paragraphs; `<pre>` stays as it is."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _CODE.sub(lambda found: f"<pre>{_escaped(found[2])}</pre>", text)
    parts = _PRE.split(text)
    return "".join(part if number % 2 else _prose(part) for number, part in enumerate(parts))


def _prose(text: str) -> str:
    return _BLANK_LINE.sub("\n<p>", _SHORTCODE.sub("", text)).replace("\n", "<br>\n")


def _escaped(code: str) -> str:
    """Code between shortcodes is written as it is; only what would be a tag is touched."""
    return code.strip("\n").replace("<", "&lt;")

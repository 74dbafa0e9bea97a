"""`blogsearch.toml`: what it may contain, and what is said about the rest."""

from pathlib import Path

import pytest

from app.errors import BadSettings
from app.settings import SiteFile, load_settings, read_site_file


def test_one_file_is_read_and_a_named_one_must_exist(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "blogsearch.toml").write_text("drafts = true")
    assert read_site_file() == SiteFile(drafts=True)
    named = tmp_path / "named.toml"
    monkeypatch.setenv("BLOGSEARCH_CONFIG", str(named))
    with pytest.raises(BadSettings, match=r"named\.toml cannot be read"):
        read_site_file()
    named.write_text("future = true\n[settings]\nshards = 0")
    assert read_site_file().future
    with pytest.raises(BadSettings, match=r"named\.toml, shards: must be a whole number"):
        load_settings()


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ('source = "posts"', "unknown name `source`"),
        ('sources = "posts"', "sources must be a list"),
        ("x = ", "Invalid value"),
    ],
)
def test_what_is_wrong_is_named(content: str, complaint: str, tmp_path: Path) -> None:
    file = tmp_path / "blogsearch.toml"
    file.write_text(content)
    with pytest.raises(BadSettings) as raised:
        read_site_file(file)
    assert str(raised.value).startswith(f"{file} cannot be read: ")
    assert complaint in str(raised.value)

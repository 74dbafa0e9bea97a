"""Loads the model for semantic search, if the settings enable it."""

from functools import cache

from analyzers.meaning import LANGUAGE, Model
from app.errors import BadSettings
from app.settings import Settings


def open_model(settings: Settings) -> Model | None:
    """Return the model, loaded once per process; None unless `semantic` is on.

    Raises:
        BadSettings: the model does not know the language.
        NoModel: the model is not installed.
    """
    if not settings.semantic:
        return None
    check_language(settings)
    return _load()


def check_language(settings: Settings) -> None:
    """Check that the model knows the language of the settings, if they name one.

    Raises:
        BadSettings: it does not.
    """
    if settings.language not in ("", LANGUAGE.name):
        raise BadSettings(
            f"BLOGSEARCH_SEMANTIC: must be off for {settings.language}: the model knows "
            f"{LANGUAGE.name} only."
        )


_load = cache(Model.load)

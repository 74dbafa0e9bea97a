"""Posts and comments in over HTTP."""

from flask import Blueprint

blueprint = Blueprint("documents", __name__)

# The service as an image: built in one stage, run in another without compiler, pip or root.

FROM python:3.13.9-slim-bookworm AS build
# The certificates of the system are those that a mirror of the package index may need.
ENV UV_PROJECT_ENVIRONMENT=/opt/venv UV_NO_CACHE=1 UV_LINK_MODE=copy UV_SYSTEM_CERTS=1
RUN python -m venv /opt/uv && /opt/uv/bin/pip install --no-cache-dir uv
WORKDIR /build
# The dependencies first: they change seldom, and this layer is kept.
COPY pyproject.toml uv.lock ./
RUN /opt/uv/bin/uv sync --locked --no-dev --no-install-project
COPY README.md LICENSE ./
COPY analyzers analyzers
COPY indexer indexer
COPY app app
COPY synonyms synonyms
# docker build --build-arg VERSION="0.1.0+g$(git rev-parse --short HEAD)", as `make update` does.
ARG VERSION="0.1.0"
RUN SETUPTOOLS_SCM_PRETEND_VERSION=$VERSION \
    /opt/uv/bin/uv sync --locked --no-dev --no-editable
# With BLOGSEARCH_SEMANTIC=on: its packages, and the model by its Maven coordinates.
ARG SEMANTIC="off"
RUN if [ "$SEMANTIC" = on ]; then \
    SETUPTOOLS_SCM_PRETEND_VERSION=$VERSION \
    /opt/uv/bin/uv sync --locked --no-dev --no-editable --extra semantic \
    && apt-get update && apt-get install -y --no-install-recommends maven \
    && /opt/venv/bin/blogsearch fetch-model; fi
# Imports every module, which writes the bytecode of what is used; all of it would be 20 MB more.
RUN cd / && /opt/venv/bin/python -c "import importlib, pkgutil, blogsearch, analyzers, app, indexer; \
    [importlib.import_module(module.name) for package in (analyzers, app, indexer) \
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + '.')]"

FROM python:3.13.9-slim-bookworm
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin blogsearch
COPY --from=build /opt/venv /opt/venv
WORKDIR /srv/blogsearch
COPY sample sample
COPY synonyms synonyms
# GUNICORN_CMD_ARGS: inside a container 127.0.0.1 is nobody else's address.
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    GUNICORN_CMD_ARGS="--bind=0.0.0.0:8000" \
    BLOGSEARCH_SYNONYMS_DIR=/srv/blogsearch/synonyms
USER 10001
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 CMD \
    ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/__lbheartbeat__', timeout=4)"]
CMD ["blogsearch", "serve"]

# The service as an image: built in one stage, run in another without compiler, pip or root.

FROM python:3.13.9-slim-bookworm AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN python -m venv /opt/venv
WORKDIR /build
# The dependencies first: they change seldom, and this layer is kept.
COPY requirements-runtime.lock ./
RUN /opt/venv/bin/pip install --no-compile --require-hashes -r requirements-runtime.lock
COPY pyproject.toml README.md LICENSE ./
COPY analyzers analyzers
COPY indexer indexer
COPY app app
RUN /opt/venv/bin/pip install --no-compile --no-deps --no-build-isolation . \
    && /opt/venv/bin/pip uninstall --yes setuptools pip
# Imports every module, which writes the bytecode of what is used; all of it would be 20 MB more.
RUN cd / && /opt/venv/bin/python -c "import importlib, pkgutil, analyzers, app, indexer; \
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
# docker build --build-arg BLOGSEARCH_COMMIT="$(git rev-parse HEAD)": for /__version__. Near the end, because
# another value rebuilds the layers after it.
ARG BLOGSEARCH_COMMIT=""
RUN printf %s "$BLOGSEARCH_COMMIT" > "$(echo /opt/venv/lib/python*/site-packages/app)/COMMIT"
USER 10001
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 CMD \
    ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/__lbheartbeat__', timeout=4)"]
CMD ["blogsearch", "serve"]

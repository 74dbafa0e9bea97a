"""Run a real Elasticsearch and a real Redis on a developer's machine: `python -m devstack`.

Not part of the service: nothing in `app`, `indexer` or `analyzers` imports it.
"""

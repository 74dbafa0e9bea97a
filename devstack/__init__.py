"""Brings up a real Elasticsearch and a real Redis on a developer's machine; `python -m devstack`.

No part of the service: nothing of `app`, `indexer` or `analyzers` imports it.
"""

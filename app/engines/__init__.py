"""Connects to Elasticsearch, and stops using it during an outage."""

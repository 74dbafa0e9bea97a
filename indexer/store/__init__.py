"""Stores data in Elasticsearch: bulk requests, generations, state."""

"""Bulk requests to Elasticsearch: their operations, sending with retries, and refusals."""

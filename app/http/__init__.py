"""Requests: their clients, access, rate limits, log and metrics; gunicorn's configuration."""

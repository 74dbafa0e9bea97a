"""Clients, limits, the log and the figures of requests; gunicorn."""

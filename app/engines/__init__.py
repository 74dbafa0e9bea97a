"""What speaks to Elasticsearch, and when it is left alone."""

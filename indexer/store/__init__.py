"""What is stored in Elasticsearch: bulk requests, generations, state."""

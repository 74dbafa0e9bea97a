"""The search itself: a SearchRequest in, an Answer out."""

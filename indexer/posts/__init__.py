"""A post, from what a source says of it to what is stored."""

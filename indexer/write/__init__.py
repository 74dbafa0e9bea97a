"""Single writes to the live index: put, delete, and the record of deletions."""

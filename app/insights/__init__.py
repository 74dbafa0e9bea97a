"""What people search: counted without addresses or cookies, reported, and turned into synonyms."""

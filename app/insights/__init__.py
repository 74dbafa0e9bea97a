"""What people search for: counted without addresses or cookies, reported, turned into synonyms."""

"""Count by day what people search for, without addresses or cookies, and report it."""

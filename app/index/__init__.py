"""What a process knows of the index, and watches."""

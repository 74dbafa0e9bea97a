"""What a command does: build, sync, add, export."""

"""Runs the commands build, sync, add and export."""

"""Watches and checks the index, its rules, golden searches and last runs."""

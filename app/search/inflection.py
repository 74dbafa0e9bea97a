"""Stems, and whether two words are inflections of one word."""

from analyzers.languages import ENGLISH

akin = ENGLISH.akin
stem = ENGLISH.stem

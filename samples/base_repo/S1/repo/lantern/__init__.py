"""Lantern: a small job queue that keeps its jobs in one file."""

__version__ = "0.7.2"

"""Decides what happens to a job whose handler raised."""

import random

BASE = 1.0
LIMIT = 600.0
TRIES = 6


def next_try(failures, rng=random):
    """Seconds to wait before try number ``failures + 1``."""
    window = BASE
    for _ in range(failures - 1):
        window = min(window * 2, LIMIT)
    return window / 2 + rng.random() * window / 2


def mark_failed(job, moment, rng=random):
    failures = job.get("failures", 0) + 1
    return {**job, "failures": failures, "wake_at": moment + next_try(failures, rng)}


def given_up(job):
    return job.get("failures", 0) >= TRIES


def sleeping(job, moment):
    return moment < job.get("wake_at", moment)

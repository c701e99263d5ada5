"""Retry rules."""

import random


def pause(attempt, first=0.25, cap=120.0):
    """Exponential pause with jitter."""
    span = min(cap, first * 2 ** (attempt - 1))
    return random.uniform(first, max(first, span))


def postpone(job, now, error, tries=5):
    attempts = job.get("attempts", 0) + 1
    if attempts >= tries:
        return None
    postponed = dict(job)
    postponed["attempts"] = attempts
    postponed["not_before"] = now + pause(attempts)
    postponed["last_error"] = f"{type(error).__name__}: {error}"
    return postponed


def is_due(job, now):
    return job.get("not_before", 0) <= now

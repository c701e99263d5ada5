"""When a failed job is tried again."""

import random
from dataclasses import dataclass, field

MAX_EXPONENT = 12


@dataclass(frozen=True)
class BackoffPolicy:
    """Exponential delays with full jitter, capped, for a limited number of attempts."""

    first_delay: float = 0.5
    ceiling: float = 300.0
    max_attempts: int = 8
    jitter: random.Random = field(default_factory=random.Random, compare=False)

    def __post_init__(self):
        if self.first_delay <= 0:
            raise ValueError("first_delay must be above zero")
        if self.ceiling < self.first_delay:
            raise ValueError("ceiling must not be below first_delay")
        if self.max_attempts < 1:
            raise ValueError("max_attempts must be at least one")

    def exhausted(self, attempts):
        return attempts >= self.max_attempts

    def delay_after(self, attempts):
        exponent = min(attempts - 1, MAX_EXPONENT)
        bound = min(self.ceiling, self.first_delay * 2**exponent)
        return self.jitter.uniform(self.first_delay, max(self.first_delay, bound))


def postpone(job, policy, now, error):
    """The job as it goes back into the store, or None when it is given up."""
    attempts = job.get("attempts", 0) + 1
    if policy.exhausted(attempts):
        return None
    postponed = dict(job)
    postponed["attempts"] = attempts
    postponed["not_before"] = now + policy.delay_after(attempts)
    postponed["last_error"] = f"{type(error).__name__}: {error}"
    return postponed


def is_due(job, now):
    return job.get("not_before", 0) <= now

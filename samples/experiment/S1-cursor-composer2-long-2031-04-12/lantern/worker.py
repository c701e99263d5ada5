"""Runs the jobs of a store, one after the other."""

import time

from lantern.retry import BackoffPolicy, is_due, postpone


class Worker:
    def __init__(self, store, handlers, clock=time.monotonic, policy=None, graveyard=None):
        self.store = store
        self.handlers = handlers
        self.clock = clock
        self.policy = policy or BackoffPolicy()
        self.graveyard = graveyard

    def run_once(self):
        jobs = self.store.load()
        left = []
        finished = 0
        for job in jobs:
            handler = self.handlers.get(job["kind"])
            if handler is None or not is_due(job, self.clock()):
                left.append(job)
                continue
            try:
                handler(job["payload"])
                finished += 1
            except Exception as error:
                again = postpone(job, self.policy, self.clock(), error)
                if again is not None:
                    left.append(again)
                elif self.graveyard is not None:
                    self.graveyard.bury(job, f"gave up after {self.policy.max_attempts} attempts")
        self.store.save(left)
        return finished

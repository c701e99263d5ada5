"""Runs the jobs of a store, one after the other."""

import time


class Worker:
    def __init__(self, store, handlers, clock=time.monotonic):
        self.store = store
        self.handlers = handlers
        self.clock = clock

    def run_once(self):
        jobs = self.store.load()
        left = []
        for job in jobs:
            handler = self.handlers.get(job["kind"])
            if handler is None:
                left.append(job)
                continue
            handler(job["payload"])
        self.store.save(left)
        return len(jobs) - len(left)

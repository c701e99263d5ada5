"""Runs the jobs of a store, one after the other."""

import time

from lantern import backoff


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
            now = self.clock()
            if handler is None or not backoff.is_due(job, now):
                left.append(job)
                continue
            try:
                handler(job["payload"])
            except Exception as exc:
                retry = backoff.postpone(job, now, exc)
                if retry:
                    left.append(retry)
                else:
                    self.store.append_to("given_up.jsonl", job)
        self.store.save(left)
        return len(jobs) - len(left)

"""Runs the jobs of a store, one after the other."""

import time

from lantern.retries import given_up, mark_failed, sleeping


class Worker:
    def __init__(self, store, handlers, clock=time.monotonic, morgue=None):
        self.morgue = morgue
        self.store = store
        self.handlers = handlers
        self.clock = clock

    def run_once(self):
        moment = self.clock()
        waiting, buried, done = [], [], 0
        for job in self.store.load():
            if job["kind"] not in self.handlers or sleeping(job, moment):
                waiting.append(job)
            elif self.attempt(job):
                done += 1
            else:
                failed = mark_failed(job, moment)
                (buried if given_up(failed) else waiting).append(failed)
        self.store.save(waiting)
        if buried and self.morgue is not None:
            self.morgue.save(self.morgue.load() + buried)
        return done

    def attempt(self, job):
        try:
            self.handlers[job["kind"]](job["payload"])
        except Exception:
            return False
        return True

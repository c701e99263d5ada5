import random

import pytest

from lantern.deadletter import DeadLetterFile
from lantern.retry import BackoffPolicy, is_due, postpone
from lantern.store import Store
from lantern.worker import Worker


def exploding(_payload):
    raise RuntimeError("no route to printer")


def test_delays_grow_and_stay_under_the_ceiling():
    policy = BackoffPolicy(first_delay=1.0, ceiling=20.0, jitter=random.Random(7))
    delays = [policy.delay_after(attempt) for attempt in range(1, 30)]
    assert all(1.0 <= delay <= 20.0 for delay in delays)


@pytest.mark.parametrize("bad", [{"first_delay": 0}, {"ceiling": 0.1}, {"max_attempts": 0}])
def test_impossible_policies_are_refused(bad):
    with pytest.raises(ValueError):
        BackoffPolicy(**bad)


def test_postponed_job_is_not_due_at_once():
    job = postpone({"kind": "print", "payload": ""}, BackoffPolicy(), now=100.0, error=RuntimeError("x"))
    assert job["attempts"] == 1
    assert not is_due(job, 100.0)


def test_hopeless_job_is_buried(tmp_path):
    store = Store(str(tmp_path / "jobs.jsonl"))
    store.save([{"kind": "print", "payload": "p"}])
    graveyard = DeadLetterFile(str(tmp_path / "dead.jsonl"))
    worker = Worker(store, {"print": exploding}, policy=BackoffPolicy(max_attempts=1), graveyard=graveyard)
    assert worker.run_once() == 0
    assert store.load() == []
    assert graveyard.exhume()[0]["kind"] == "print"

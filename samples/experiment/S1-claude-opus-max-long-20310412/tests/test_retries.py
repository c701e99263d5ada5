from lantern.retries import given_up, mark_failed, sleeping
from lantern.store import Store
from lantern.worker import Worker


def broken(_payload):
    raise OSError("printer on fire")


def test_failed_job_sleeps_then_is_buried(tmp_path):
    store = Store(str(tmp_path / "a"))
    morgue = Store(str(tmp_path / "b"))
    store.save([{"kind": "fax", "payload": "p"}])
    now = [0.0]
    worker = Worker(store, {"fax": broken}, clock=lambda: now[0], morgue=morgue)
    for _ in range(6):
        worker.run_once()
        now[0] += 10_000
    assert store.load() == []
    assert given_up(morgue.load()[0])


def test_sleeping_until_wake_at():
    job = mark_failed({"kind": "fax", "payload": ""}, 50.0)
    assert sleeping(job, 50.0)
    assert not sleeping(job, job["wake_at"])

from lantern.store import Store
from lantern.worker import Worker


def test_handled_jobs_leave_the_store(tmp_path):
    store = Store(str(tmp_path / "jobs.jsonl"))
    store.save([{"kind": "mail", "payload": "a"}, {"kind": "fax", "payload": "b"}])
    seen = []
    worker = Worker(store, {"mail": seen.append})
    assert worker.run_once() == 1
    assert seen == ["a"]
    assert [job["kind"] for job in store.load()] == ["fax"]

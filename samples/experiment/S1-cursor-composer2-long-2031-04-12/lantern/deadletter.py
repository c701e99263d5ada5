"""Jobs that were given up, kept for a person to look at."""

import json


class DeadLetterFile:
    def __init__(self, path, limit=10_000):
        self.path = path
        self.limit = limit
        self.dropped = 0

    def bury(self, job, reason):
        record = {"job": job, "reason": reason}
        if self._count() >= self.limit:
            self.dropped += 1
            return False
        with open(self.path, "a", encoding="utf-8") as handle:
            handle.write(json.dumps(record, ensure_ascii=False, sort_keys=True) + "\n")
        return True

    def exhume(self):
        try:
            with open(self.path, encoding="utf-8") as handle:
                return [json.loads(line)["job"] for line in handle if line.strip()]
        except FileNotFoundError:
            return []

    def _count(self):
        return len(self.exhume())

"""Jobs on disk: one JSON object a line, rewritten as a whole."""

import json
import os
import tempfile


class Store:
    def __init__(self, path):
        self.path = path

    def load(self):
        if not os.path.exists(self.path):
            return []
        with open(self.path, encoding="utf-8") as handle:
            return [json.loads(line) for line in handle if line.strip()]

    def save(self, jobs):
        folder = os.path.dirname(self.path) or "."
        fd, name = tempfile.mkstemp(dir=folder)
        with os.fdopen(fd, "w", encoding="utf-8") as handle:
            for job in jobs:
                handle.write(json.dumps(job, sort_keys=True) + "\n")
        os.replace(name, self.path)

    def append_to(self, name, job):
        folder = os.path.dirname(self.path) or "."
        with open(os.path.join(folder, name), "a", encoding="utf-8") as handle:
            handle.write(json.dumps(job) + "\n")

"""The `lantern` command."""

import argparse

from lantern.deadletter import DeadLetterFile
from lantern.store import Store


def build_parser():
    parser = argparse.ArgumentParser(prog="lantern")
    parser.add_argument("--store", default="jobs.jsonl")
    commands = parser.add_subparsers(dest="command", required=True)
    add = commands.add_parser("add", help="put a job into the store")
    add.add_argument("kind")
    add.add_argument("payload")
    commands.add_parser("list", help="print the jobs that wait")
    revive = commands.add_parser("revive", help="put the jobs that were given up back into the store")
    revive.add_argument("--graveyard", default="dead.jsonl")
    return parser


def main(argv=None):
    args = build_parser().parse_args(argv)
    store = Store(args.store)
    jobs = store.load()
    if args.command == "add":
        jobs.append({"kind": args.kind, "payload": args.payload})
        store.save(jobs)
        return 0
    if args.command == "revive":
        buried = DeadLetterFile(args.graveyard).exhume()
        for job in buried:
            job.pop("attempts", None)
            job.pop("not_before", None)
        store.save(jobs + buried)
        return 0
    for job in jobs:
        print(job["kind"], job["payload"])
    return 0

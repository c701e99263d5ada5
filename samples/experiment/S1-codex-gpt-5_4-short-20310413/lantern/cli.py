"""The `lantern` command."""

import argparse

from lantern.store import Store


def build_parser():
    parser = argparse.ArgumentParser(prog="lantern")
    parser.add_argument("--store", default="jobs.jsonl")
    commands = parser.add_subparsers(dest="command", required=True)
    add = commands.add_parser("add", help="put a job into the store")
    add.add_argument("kind")
    add.add_argument("payload")
    commands.add_parser("list", help="print the jobs that wait")
    return parser


def main(argv=None):
    args = build_parser().parse_args(argv)
    store = Store(args.store)
    jobs = store.load()
    if args.command == "add":
        jobs.append({"kind": args.kind, "payload": args.payload})
        store.save(jobs)
        return 0
    for job in jobs:
        print(job["kind"], job["payload"])
    return 0

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
    revive = commands.add_parser("revive", help="give buried jobs another chance")
    revive.add_argument("--morgue", default="morgue.jsonl")
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
        morgue = Store(args.morgue)
        fresh = [{"kind": job["kind"], "payload": job["payload"]} for job in morgue.load()]
        store.save(jobs + fresh)
        morgue.save([])
        return 0
    for job in jobs:
        print(job["kind"], job["payload"])
    return 0

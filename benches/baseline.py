#!/usr/bin/env python3
"""What people write by hand: every string of every JSON line against every pattern. Standard library only.

    benches/baseline.py PATTERNS TRACE
"""
import json
import re
import sys


def strings(value):
    stack = [value]
    while stack:
        value = stack.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            stack.extend(value.values())
        elif isinstance(value, list):
            stack.extend(value)


def main(patterns, trace):
    # Anchors of lines mean lines in the patterns of the rules; a flag in the middle is refused here.
    compiled = []
    for line in open(patterns, encoding="utf-8"):
        try:
            compiled.append(re.compile(line.rstrip("\n"), re.IGNORECASE | re.MULTILINE | re.ASCII))
        except re.error:
            pass
    hits = 0
    for line in open(trace, encoding="utf-8", errors="replace"):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        for text in strings(record):
            hits += sum(1 for pattern in compiled if pattern.search(text))
    print(f"{len(compiled)} patterns, {hits} hits")


main(*sys.argv[1:])

#!/usr/bin/env python3
"""The published exact-match rule on the Python package unidiff, as an oracle.

    python3 -m venv v && v/bin/pip install unidiff==0.7.5
    v/bin/python tests/exact_match/reference.py GOLD.jsonl[,MORE...] PREDICTIONS.jsonl... > reference.tsv

For each file a line `> NAME`, then one line for each row: the first 12 hexadecimal digits of the SHA-256
of `instance_id`, a tab, and what the rule says: `match`, `no_match`, `no_gold`, `gold_unreadable` or the
kind of failure. No text of a prediction is written.

`--count` writes only the numbers of each outcome (for timing).
"""

import collections
import hashlib
import json
import os
import sys

import unidiff

# The beginning of the message of each exception that the package raises.
KINDS = [
    ("Hunk is shorter", "hunk_shorter"),
    ("Hunk is longer", "hunk_longer"),
    ("Hunk diff line expected", "no_hunk_line"),
    ("Unexpected hunk", "hunk_without_file"),
    ("Target without source", "target_without_source"),
    ("cannot access local", "target_without_source"),
    ("local variable", "target_without_source"),
    ("Unexpected new file", "mode_without_file"),
    ("Unexpected deleted file", "mode_without_file"),
    ("Unexpected trailing", "stray_line"),
    ("Unexpected marker", "stray_line"),
    ("Unexpected binary", "binary_without_file"),
    ("'NoneType' object", "binary_without_file"),
    ("Exceeds the limit", "number_too_long"),
]


def outline(patch):
    """The hunks of each file, added comment lines left out: what the rule compares."""
    files = {}
    for changed in unidiff.PatchSet(patch):
        files[changed.target_file] = [
            [
                (line.line_type, line.value)
                for line in hunk
                if line.line_type in ("+", "-", " ")
                and not (line.line_type == "+" and line.value.strip().startswith("#"))
            ]
            for hunk in changed
        ]
    return files


def contained(gold, prediction):
    return all(name in prediction for name in gold) and all(
        hunk in prediction[name] for name, hunks in gold.items() for hunk in hunks
    )


def kind(error):
    for start, name in KINDS:
        if str(error).startswith(start):
            return name
    return "other:" + type(error).__name__


def rows(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)


def outcome(gold, row):
    if row["instance_id"] not in gold:
        return "no_gold"
    # As published, both patches are read anew for each pair.
    try:
        wanted = outline(gold[row["instance_id"]])
    except Exception:
        return "gold_unreadable"
    try:
        there = outline(row["model_patch"] or "")
    except Exception as error:
        return kind(error)
    return "match" if contained(wanted, there) else "no_match"


def main():
    arguments = [a for a in sys.argv[1:] if a != "--count"]
    gold = {}
    for path in arguments[0].split(","):
        for row in rows(path):
            gold.setdefault(row["instance_id"], row["patch"])
    for path in arguments[1:]:
        name = os.path.basename(path).rsplit(".", 1)[0]
        counts = collections.Counter()
        if "--count" not in sys.argv:
            print(">", name)
        for row in rows(path):
            result = outcome(gold, row)
            counts[result] += 1
            if "--count" not in sys.argv:
                digest = hashlib.sha256(row["instance_id"].encode()).hexdigest()[:12]
                print(digest, result, sep="\t")
        if "--count" in sys.argv:
            print(name, dict(sorted(counts.items())))


if __name__ == "__main__":
    main()

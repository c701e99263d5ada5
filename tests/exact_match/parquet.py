#!/usr/bin/env python3
"""Writes gold.parquet and predictions.parquet beside this file (needs pyarrow)."""

import os

import pyarrow
import pyarrow.parquet

HERE = os.path.dirname(os.path.abspath(__file__))
PATCH = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a = 1\n+b = {}\n"


def write(name, columns, compression):
    table = pyarrow.table(columns)
    pyarrow.parquet.write_table(table, os.path.join(HERE, name), compression=compression)


ids = ["org__repo-1", "org__repo-2", "org__repo-3"]
write(
    "gold.parquet",
    {
        "instance_id": ids,
        "patch": [PATCH.format(n) for n in (1, 2, 3)],
        "test_patch": ["", None, PATCH.format("test")],
        "FAIL_TO_PASS": [["t1", "t2"], [], None],
    },
    "zstd",
)
write(
    "predictions.parquet",
    {"instance_id": ids, "model_patch": [PATCH.format(1), PATCH.format(9), None]},
    "snappy",
)

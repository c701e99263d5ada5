"""Reference values for the agreement statistics, from other people's code.

    python3 tests/score/oracle.py > tests/score/oracle.json

needs numpy, statsmodels (Fleiss' and Cohen's kappas) and krippendorff (alpha). Written with
statsmodels 0.15.0 and krippendorff 0.9.0. Gwet's generalised kappa is in neither; it is computed here
from the definition, one pair of ratings after the other, which is not how the tool does it.

The tables are random with a fixed seed: runs x judges of F (FAIL), - (PARTIAL), P (PASS) and . (no
rating), dense and sparse, and a few that have no defined answer. `null` is "undefined".
"""

import json
import math
import random
import warnings
from collections import Counter
from itertools import combinations, permutations

import krippendorff
import numpy as np
from statsmodels.stats.inter_rater import cohens_kappa, fleiss_kappa

WORDS = "F-P"


def number(value):
    value = float(value)
    return None if math.isnan(value) or math.isinf(value) else value


def tables():
    rng = random.Random(20240817)
    for n in range(40):
        judges = rng.randint(2, 6)
        missing = rng.choice([0.0, 0.0, 0.1, 0.3, 0.6])
        weights = [rng.random() + 0.05 for _ in WORDS]
        # Judges that look at a common truth agree more than chance.
        follow = rng.choice([0.0, 0.4, 0.8, 1.0])
        rows = []
        for _ in range(rng.randint(2, 40)):
            truth = rng.choices(WORDS, weights)[0]
            row = ""
            for _ in range(judges):
                if rng.random() < missing:
                    row += "."
                else:
                    row += truth if rng.random() < follow else rng.choices(WORDS, weights)[0]
            rows.append(row)
        yield rows
    yield ["PPP", "PPP"]
    yield ["F.", ".P", ".."]
    yield ["F-", "F-", "-F"]
    yield ["..P", "F..", "FPP"]


def votes(row):
    return [row.count(w) for w in WORDS]


def fleiss(rows, merge=False):
    counts = Counter(sum(votes(r)) for r in rows if sum(votes(r)) >= 2)
    if not counts:
        return None
    most = max(counts.values())
    raters = max(k for k, v in counts.items() if v == most)
    table = np.array([votes(r) for r in rows if sum(votes(r)) == raters])
    if merge:
        table = np.column_stack([table[:, 0] + table[:, 1], table[:, 2]])
    if (table.sum(0) > 0).sum() < 2:
        return None
    return number(fleiss_kappa(table))


def alpha(rows, level):
    data = [[np.nan if r[j] == "." else WORDS.index(r[j]) for r in rows] for j in range(len(rows[0]))]
    paired = {c for r in rows if sum(votes(r)) >= 2 for c in r if c != "."}
    if len(paired) < 2:
        return None
    return number(krippendorff.alpha(reliability_data=data, value_domain=[0, 1, 2], level_of_measurement=level))


def cohen(rows, a, b, wt):
    table = np.zeros((3, 3))
    for r in rows:
        if r[a] != "." and r[b] != ".":
            table[WORDS.index(r[a]), WORDS.index(r[b])] += 1
    if table.sum() == 0 or ((table.sum(0) + table.sum(1)) > 0).sum() < 2:
        return None
    return number(cohens_kappa(table, wt=wt, return_results=False))


def gwet(rows, weight):
    """Gwet 2014: observed agreement pair by pair, chance from the mean share of each word."""
    observed, shares = [], []
    for r in rows:
        ratings = [WORDS.index(c) for c in r if c != "."]
        if ratings:
            shares.append([ratings.count(k) / len(ratings) for k in range(3)])
        if len(ratings) >= 2:
            pairs = list(permutations(ratings, 2))
            observed.append(sum(weight(x, y) for x, y in pairs) / len(pairs))
    if not observed:
        return None
    share = [sum(s[k] for s in shares) / len(shares) for k in range(3)]
    chance = sum(weight(k, l) * share[k] * share[l] for k in range(3) for l in range(3))
    if abs(1 - chance) < 1e-12:
        return None
    return number((sum(observed) / len(observed) - chance) / (1 - chance))


def main():
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    out = []
    for rows in tables():
        out.append(
            {
                "rows": rows,
                "fleiss": fleiss(rows),
                "fleiss_pass": fleiss(rows, merge=True),
                "alpha_nominal": alpha(rows, "nominal"),
                "alpha_ordinal": alpha(rows, "ordinal"),
                "kappa": gwet(rows, lambda k, l: float(k == l)),
                "kappa_pass": gwet(rows, lambda k, l: float((k == 2) == (l == 2))),
                "kappa_linear": gwet(rows, lambda k, l: 1 - abs(k - l) / 2),
                "kappa_quadratic": gwet(rows, lambda k, l: 1 - (k - l) ** 2 / 4),
                "pairs": [
                    [a, b, cohen(rows, a, b, None), cohen(rows, a, b, "linear"), cohen(rows, a, b, "quadratic")]
                    for a, b in combinations(range(len(rows[0])), 2)
                ],
            }
        )
    print("[")
    print(",\n".join(json.dumps(table) for table in out))
    print("]")


main()

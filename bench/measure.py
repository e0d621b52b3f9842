"""Interleaved rounds and what is said of them: medians, and the spread of the ratios."""

import statistics


def interleaved(rounds, mine, beside):
    """[(mine's result, beside's result)] of so many rounds after one that warms up. Who goes first
    alternates, so that neither always finds the other's leavings in the caches. Both are given the
    round's number."""
    pairs = []
    for number in range(rounds + 1):
        if number % 2:
            left, right = mine(number), beside(number)
        else:
            right, left = beside(number), mine(number)
        if number:
            pairs.append((left, right))
    return pairs


def is_warm(shares):
    """Whether the broker's compiler took at most a fifth of its CPU in each of the last two rounds."""
    return len(shares) > 1 and max(shares[-2:]) <= 0.2


def row(name, values, unit, beside, beside_values, **extra):
    """One row of the report. value and beside_value are medians over the rounds, ratio is the one
    by the other; the spread is that of the rounds' own ratios."""
    value, beside_value = statistics.median(values), statistics.median(beside_values)
    ratios = [mine / other for mine, other in zip(values, beside_values)]
    spread = {"rounds": len(ratios), "ratio_median": statistics.median(ratios),
              "ratio_min": min(ratios), "ratio_max": max(ratios)} if len(ratios) > 1 else {}
    return {"name": name, "value": value, "unit": unit, "beside": beside,
            "beside_value": beside_value, "ratio": value / beside_value, **spread, **extra}

"""Makes one table, or one JSON value, of the lines that `run` collected: `table.py LINES ROUNDS RUNS [--json]`.

A figure is the median over the rounds of each round's median; the ratio is to codecell's figure in the same row.
"""

import json
import os
import platform
import statistics
import sys

# Our name for a row, and what `codecell-bench cells` or `interpreter` calls it.
ROWS = {
    "return 1 + 1": "return 1 + 1",
    "nested calls: 1": "1 nested call",
    "nested calls: 10": "10 nested calls in turn",
    "nested calls: 100": "100 nested calls in turn",
    "suspend": "exec to waiting (yield)",
    "resume": "wait to completed",
    "fib(27)": "fib(27)",
    "sort of 100,000": "sort of 100,000 numbers",
    "whole process": None,
}


def collect(lines):
    """Versions and reasons by peer, and every round's median by row and peer."""
    versions, skipped, figures = {}, {}, {row: {} for row in ROWS}
    for line in map(json.loads, lines):
        peer = line.get("peer", "codecell")
        if line.get("version"):
            versions[peer] = line["version"]
        if "skipped" in line:
            skipped[peer] = line["skipped"]
        medians = line.get("medians", {})
        if "rows" in line:
            found = line["rows"]
            medians = {row: found[name]["wall p50 us"] for row, name in ROWS.items() if name in found}
        for row, median in medians.items():
            figures[row].setdefault(peer, []).append(median)
    return versions, skipped, figures


def summary(figures):
    def one(values):
        return {
            "median us": round(statistics.median(values), 1),
            "least us": round(min(values), 1),
            "most us": round(max(values), 1),
        }

    return {row: {peer: one(values) for peer, values in peers.items()} for row, peers in figures.items()}


def processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


def cell(figures, peer):
    if peer not in figures:
        return "-"
    median = figures[peer]["median us"]
    text = f"{median:.0f}" if median >= 10 else f"{median:.1f}"
    if peer != "codecell" and "codecell" in figures:
        text += f" ({median / figures['codecell']['median us']:.1f})"
    return text


def table(report):
    peers = [peer for peer in report["versions"] if peer not in report["skipped"]]
    print(f"{report['machine']}; {report['rounds']} rounds of {report['runs']} runs by turns;")
    print("median microseconds, in brackets the ratio to codecell\n")
    print("| | " + " | ".join(f"{peer} {report['versions'][peer]}" for peer in peers) + " |")
    print("|---|" + "---|" * len(peers))
    for row, figures in report["rows"].items():
        print(f"| {row} | " + " | ".join(cell(figures, peer) for peer in peers) + " |")
    for peer, reason in report["skipped"].items():
        print(f"\nskipped: {peer} {report['versions'].get(peer, '')}: {reason}")


def main():
    path, rounds, runs, *rest = sys.argv[1:]
    with open(path, encoding="utf-8") as lines:
        versions, skipped, figures = collect(lines)
    report = {
        "machine": f"{processor()}, {os.cpu_count()} cores, {platform.system()}, load {os.getloadavg()[0]:.1f}",
        "rounds": int(rounds),
        "runs": int(runs),
        "versions": versions,
        "skipped": skipped,
        "rows": summary(figures),
    }
    if rest == ["--json"]:
        print(json.dumps(report))
    else:
        table(report)


if __name__ == "__main__":
    main()

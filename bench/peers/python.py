"""Drives Monty, or the whole codecell process, and prints medians in microseconds as one JSON line.

`python.py monty RUNS` and `python.py process RUNS CODECELL`. Every run of Monty has a session of its own,
from a pool whose worker is warm; its calls go through `feed_start` and `resume`, the fastest way it has.
"""

import json
import os
import statistics
import sys
import tempfile
import time


def median(runs, operation):
    """Of `runs` runs of `operation`, in microseconds, after a tenth as many to warm up."""
    times = []
    for turn in range(-(runs // 10) - 1, runs):
        begun = time.perf_counter()
        operation()
        if turn >= 0:
            times.append((time.perf_counter() - begun) * 1e6)
    return statistics.median(times)


def same(found, expected):
    if found != expected:
        raise ValueError(f"{found!r} where {expected!r} was expected")


def monty(runs):
    from pydantic_monty import Monty, MontyComplete

    def finish(step):
        while not isinstance(step, MontyComplete):
            step = step.resume({"return_value": step.args[0]})
        return step.output

    medians = {}
    with Monty() as pool:

        def run(code, expected):
            with pool.checkout() as session:
                same(finish(session.feed_start(code)), expected)

        def suspend():
            with pool.checkout() as session:
                return session.feed_start("echo(1)").dump()

        def resume(snapshot):
            with pool.checkout() as session:
                same(finish(session.load_snapshot(snapshot)), 1)

        medians["return 1 + 1"] = median(runs, lambda: run("1 + 1", 2))
        for count in (1, 10, 100):
            code = f"n = 0\nfor i in range({count}):\n    n += echo(i)\nn"
            total = count * (count - 1) // 2
            medians[f"nested calls: {count}"] = median(runs, lambda: run(code, total))
        medians["suspend"] = median(runs, suspend)
        snapshot = suspend()
        medians["resume"] = median(runs, lambda: resume(snapshot))
    return {"peer": "pydantic-monty", "medians": medians}


def process(runs, codecell):
    with tempfile.TemporaryDirectory() as workspace, open(os.devnull, "wb") as nowhere:
        command = [codecell, "exec", "--workspace", workspace, "return 1+1"]
        quiet = [(os.POSIX_SPAWN_DUP2, nowhere.fileno(), 1)]

        def run():
            child = os.posix_spawn(codecell, command, os.environ, file_actions=quiet)
            same(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)

        return {"peer": "codecell", "medians": {"whole process": median(runs, run)}}


if __name__ == "__main__":
    what, runs, *rest = sys.argv[1:]
    print(json.dumps({"monty": monty, "process": process}[what](int(runs), *rest)))

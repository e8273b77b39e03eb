"""Explores the models of the runtime's threads, as the sources are and with each memory order weakened.

  run.py ROOT [--verbose]

The sources must be right, and with any order made relaxed a model must go wrong, but for those listed as stronger than
needed. So a model that no longer follows its source, or that sees nothing, fails. The last line reads
`N passed, N failed`.
"""
import os
import re
import sys

import pool
import queue_model
import ranks
from explore import Wrong
from orders import Orders

# The operation's function, field, number, and which of its orders -> why relaxed would do. All of threads.c, whose rare
# operations are sequentially consistent by default.
STRONGER = {
    ("fail_all", "claimed", 0, 0): "who claims first is decided by the update itself; `failed` releases the text",
    ("fail_all", "claimed", 0, 1): "whoever comes late reads nothing before `failed`",
    ("sleep_until", "sleeping", 1, 0): "a rank that still seems asleep is rung for nothing",
    ("try_receive", "state", 1, 1): "a message that was taken back is not read",
    ("withdraw", "state", 0, 0): "takes back this rank's own message, which nobody has read",
    ("withdraw", "state", 1, 0): "nobody reads an empty box; the next message releases it",
}


def explore(models):
    """What goes wrong first, or None."""
    for name, run in models.items():
        try:
            run()
        except Wrong as fault:
            return f"{name}: {fault}"
    return None


def main():
    root, verbose, passed, failed = sys.argv[1], "--verbose" in sys.argv, 0, 0

    def count(what, good, text):
        nonlocal passed, failed
        passed, failed = passed + bool(good), failed + (not good)
        if verbose or not good:
            print(f"{what}: {text}", flush=True)

    for module in (pool, ranks):
        source = os.path.join(root, module.SOURCE)
        orders = Orders(source)
        fault = explore(module.models(orders))
        count(module.SOURCE, not fault, fault)
        for key, given in orders.used.items():
            for which, order in enumerate(given):
                if order == "relaxed" or (*key, which) in STRONGER:
                    continue
                fault = explore(module.models(Orders(source, {(*key, which): "relaxed"})))
                count(f"{module.SOURCE}: {key[0]}: {key[1]} {key[2]}: {order} -> relaxed", fault, (fault or "is right too").split("\n")[0])
    with open(os.path.join(root, "runtime/feeds/queue.c"), encoding="utf-8") as file:
        calls = re.findall(r"pthread_cond_(broadcast|signal)\(", file.read())
    count("runtime/feeds/queue.c", calls and "signal" not in calls, f"wakes by {calls}, the model by broadcast")
    fault = explore(queue_model.models(sleepers=99))
    count("queue", not fault, fault)
    fault = explore(queue_model.models(sleepers=1))
    count("queue, signal in place of broadcast", fault, (fault or "is right too").split("\n")[0])
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0 or not passed)


main()

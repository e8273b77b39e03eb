"""Compares two builds of ours: the same modules, compiled and run in turns, on the same inputs and processors.

ratio = the old build's best time / the new one's; above 1 the new one is faster. A module below the bound is measured
again with more rounds, since most such findings are noise on a shared machine; the second figure counts.
"""
import math
import os
import tempfile

BOUND = 0.97
ROUNDS, AGAIN = 5, 20


def best_times(bench, tools, module, inputs, rounds):
    """For each tool the least ms of a call over the rounds, None after an error; the order changes from round to round."""
    best = [math.inf] * len(tools)
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(rounds):
            order = range(len(tools)) if turn % 2 == 0 else reversed(range(len(tools)))
            for i in order:
                answer = bench.ours(module, inputs, os.path.join(folder, "out.npz"), bench.options.seconds, tools[i])
                if "error" in answer:
                    print(f"{os.path.basename(module)}: {tools[i]}: {answer['error']}", flush=True)
                    return None
                best[i] = min(best[i], answer["run_ms_min"])
    return best


def compare(bench, old, modules, make_inputs):
    """Prints a line per module and a summary; returns the number of modules below the bound or not run."""
    tools = [old, bench.options.tool]
    rounds = max(ROUNDS, bench.options.rounds)
    ratios, slower, broken = {}, [], []
    with tempfile.TemporaryDirectory() as folder:
        inputs = os.path.join(folder, "in.npz")
        for module in modules:
            name = os.path.basename(module)[:-4]
            make_inputs(module, inputs)
            times = best_times(bench, tools, module, inputs, rounds)
            again = times is not None and times[0] < BOUND * times[1]
            if again:
                times = best_times(bench, tools, module, inputs, AGAIN)
            if times is None:
                broken.append(name)
                continue
            ratios[name] = times[0] / times[1]
            if ratios[name] < BOUND:
                slower.append(name)
            print(f"{ratios[name]:6.3f}  {times[0]:10.5f} ms -> {times[1]:10.5f} ms  {name}" + ("  (measured again)" if again else ""), flush=True)
    if ratios:
        mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
        worst = min(ratios, key=ratios.get)
        print(f"{len(ratios)} modules on {bench.cores} core(s): geometric mean {mean:.3f}, worst {ratios[worst]:.3f} ({worst}), below {BOUND}: {len(slower)}")
    for name in slower:
        print(f"slower: {ratios[name]:.3f} {name}")
    for name in broken:
        print(f"did not run: {name}")
    return len(slower) + len(broken)

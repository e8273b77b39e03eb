"""Models of runtime/core/pool.c: a caller runs loops, workers take part."""
from explore import Explorer, Program, Wrong

SOURCE = "runtime/core/pool.c"
OPEN, WAITING, INSIDE = 128, 64, 63
WORDS = ["epoch", "sleepers", "ending", "gate", "next", "busy"]


def run_indices(p, o, indices):
    """fn writes what loop it ran for; `fields` are fn, arg and n."""
    again, out = p.unique("again"), p.unique("out")
    p.read("loop", "fields")
    p.label(again)
    p.rmw("i", "next", lambda old, r: old + 1, o("run_indices", "next"))
    for i in range(indices):
        other = p.unique("other")
        p.jump(lambda r, i=i: r["i"] != i, other)
        p.write(f"result{i}", lambda r: r["loop"])
        p.goto(again)
        p.label(other)
    p.label(out)


def worker(o, number, indices, sleeps):
    p = Program(f"worker{number}", e=0, seen=0, gate=0, ok=0, i=0, loop=0, old=0, ending=0)
    p.label("top")
    p.load("e", "epoch", o("spin", "word"))
    p.jump(lambda r: r["e"] != r["seen"], "go")
    if not sleeps:
        p.goto("top")
    p.either("top")  # the time to spin is over, or not
    p.rmw("old", "sleepers", lambda old, r: old + 1, o("work", "sleepers", 0))
    p.label("asleep")
    p.load("e", "epoch", o("work", "epoch", 0))
    p.jump(lambda r: r["e"] != r["seen"], "awake")
    p.futex_wait("epoch", lambda r: r["seen"])
    p.goto("asleep")
    p.label("awake")
    p.rmw("old", "sleepers", lambda old, r: old - 1, o("work", "sleepers", 1))
    p.label("go")
    p.load("seen", "epoch", o("work", "epoch", 1))
    p.load("ending", "ending", o("work", "ending"))
    p.let("e", lambda r: 0)
    p.jump(lambda r: r["ending"] == 1, "end")
    p.load("gate", "gate", o("enter", "gate", 0))
    p.label("enter")
    p.jump(lambda r: not r["gate"] & OPEN, "top")
    p.cas("ok", "gate", "gate", lambda r: r["gate"] + 1, *o("enter", "gate", 1))
    p.jump(lambda r: not r["ok"], "enter")
    run_indices(p, o, indices)
    p.rmw("old", "gate", lambda old, r: old - 1, o("leave", "gate"))
    p.jump(lambda r: r["old"] != WAITING | 1, "top")
    p.futex_wake("gate", 1)
    p.goto("top")
    p.label("end")
    p.end()
    return p


def caller(o, loops, indices, workers, stops, sleeps):
    p = Program("caller", s=0, gate=0, old=0, i=0, loop=0, x=0)
    for number in range(1, loops + 1):
        done, closed = f"done{number}", f"closed{number}"
        p.write("fields", number)
        p.store("next", 0, o("run_loop", "next"))
        p.store("gate", OPEN, o("run_loop", "gate", 0))
        p.rmw("old", "epoch", lambda old, r: old + 1, o("run_loop", "epoch"))
        p.load("s", "sleepers", o("run_loop", "sleepers"))
        p.jump(lambda r: r["s"] == 0, f"run{number}")
        p.futex_wake("epoch", lambda r: min(r["s"], indices - 1))
        p.label(f"run{number}")
        run_indices(p, o, indices)
        p.rmw("old", "gate", lambda old, r: old & ~OPEN, o("run_loop", "gate", 1))
        p.label(closed)
        p.load("gate", "gate", o("spin", "word"))
        p.jump(lambda r: not r["gate"] & INSIDE, done)
        if not sleeps:
            p.goto(closed)
        p.either(closed)
        p.rmw("old", "gate", lambda old, r: old | WAITING, o("run_loop", "gate", 2))
        p.jump(lambda r: not r["old"] & INSIDE, closed)
        p.futex_wait("gate", lambda r: r["old"] | WAITING)
        p.goto(closed)
        p.label(done)
        for i in range(indices):
            p.read("x", f"result{i}")
            p.expect(lambda r, number=number: r["x"] == number, f"loop {number} has not run index {i}")
        p.let("x", lambda r: 0)
    if stops:
        p.store("ending", 1, o("stop_workers", "ending"))
        p.rmw("old", "epoch", lambda old, r: old + 1, o("stop_workers", "epoch"))
        p.futex_wake("epoch", 99)
        for number in range(workers):
            p.join(1 + number)
    p.end()
    return p


def rival(o, number):
    """One of several callers at a time: whoever finds the pool busy runs its loop alone."""
    p = Program(f"caller{number}", old=0)
    p.rmw("old", "busy", lambda old, r: 1, o("parallel_for", "busy", 0))
    p.jump(lambda r: r["old"], "alone")
    p.write("fields", number)
    p.store("busy", 0, o("parallel_for", "busy", 1))
    p.label("alone")
    p.end()
    return p


def nobody_oversleeps(explorer, state):
    """A worker may sleep only if it has seen the last loop: else the caller should have woken it."""
    last = state[0][explorer.words["epoch"]][-1].value
    for program, (pc, _, _, blocked) in zip(explorer.programs, state[2]):
        if pc is not None and (blocked is None or blocked[2] != last):
            raise Wrong(f"{program.name} sleeps through a loop" if blocked else f"{program.name} does not go on")


def models(o):
    """Name -> a function that explores it."""
    def pool(workers, loops, indices, stops, sleeps):
        programs = [caller(o, loops, indices, workers, stops, sleeps)]
        programs += [worker(o, i, indices, sleeps) for i in range(workers)]
        final = None if stops else nobody_oversleeps
        return Explorer(programs, WORDS, ["fields"] + [f"result{i}" for i in range(indices)], final).run
    return {"a loop, then the end": pool(1, 1, 2, True, True), "two loops": pool(1, 2, 2, True, False),
            "two workers": pool(2, 1, 1, True, False), "a loop for sleepers": pool(1, 1, 2, False, True),
            "two callers": Explorer([rival(o, 1), rival(o, 2)], WORDS, ["fields"]).run}

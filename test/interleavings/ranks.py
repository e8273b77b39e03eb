"""Models of runtime/collectives/threads.c: ranks exchange messages, sleep on their bells, and fail."""
from explore import Explorer, Program

SOURCE = "runtime/collectives/threads.c"
EMPTY, POSTED, COPYING, TAKEN = range(4)


def ring(p, o, rank):
    quiet = p.unique("quiet")
    p.rmw("x", f"events{rank}", lambda old, r: old + 1, o("ring", "events"))
    p.load("x", f"sleeping{rank}", o("ring", "sleeping"))
    p.jump(lambda r: not r["x"], quiet)
    p.lock(f"mutex{rank}")
    p.signal(f"bell{rank}")
    p.unlock(f"mutex{rank}")
    p.label(quiet)


def post(p, o, rank, number):
    p.write(f"data{rank}", number)
    p.write(f"part{rank}", number)
    p.store(f"state{rank}", POSTED, o("post_all", "state"))


def try_receive(p, o, source, number, out):
    """Goes to `out` if there is no message."""
    p.load("state", f"state{source}", o("try_receive", "state", 0))
    p.jump(lambda r: r["state"] != POSTED, out)
    p.cas("ok", "state", f"state{source}", COPYING, *o("try_receive", "state", 1))
    p.jump(lambda r: not r["ok"], out)
    p.read("x", f"part{source}")
    p.expect(lambda r: r["x"] == number, f"not message {number}")
    p.read("x", f"data{source}")
    p.expect(lambda r: r["x"] == number, f"not the data of message {number}")
    p.store(f"state{source}", TAKEN, o("try_receive", "state", 3))


def exchanging(o, rank, count):
    """Some exchanges with the other rank, one after another."""
    other = 1 - rank
    p = Program(f"rank{rank}", x=0, seen=0, state=0, ok=0, received=0, sent=0, done=0)
    for number in range(1, count + 1):
        loop, sending, waiting, asleep, awake, end = (f"{name}{number}" for name in ("loop", "send", "wait", "asleep", "awake", "end"))
        post(p, o, rank, number)
        ring(p, o, other)
        p.let("received", lambda r: 0)
        p.let("sent", lambda r: 0)
        p.label(loop)
        p.load("seen", f"events{rank}", o("run_exchange", "events"))
        p.let("done", lambda r: 0)
        p.jump(lambda r: r["received"], sending)
        try_receive(p, o, other, number, sending)
        ring(p, o, other)
        p.let("received", lambda r: 1)
        p.let("done", lambda r: 1)
        p.label(sending)
        p.jump(lambda r: r["sent"], waiting)
        p.load("state", f"state{rank}", o("try_finish_send", "state", 0))
        p.jump(lambda r: r["state"] != TAKEN, waiting)
        p.store(f"state{rank}", EMPTY, o("try_finish_send", "state", 1))
        p.let("sent", lambda r: 1)
        p.let("done", lambda r: 1)
        p.label(waiting)
        p.jump(lambda r: r["sent"] and r["received"], end)
        p.jump(lambda r: r["done"], loop)
        p.either(loop)  # polls again, or sleeps
        p.lock(f"mutex{rank}")
        p.store(f"sleeping{rank}", 1, o("sleep_until", "sleeping", 0))
        p.label(asleep)
        p.load("x", f"events{rank}", o("sleep_until", "events"))
        p.jump(lambda r: r["x"] != r["seen"], awake)
        p.wait(f"bell{rank}", f"mutex{rank}")
        p.goto(asleep)
        p.label(awake)
        p.store(f"sleeping{rank}", 0, o("sleep_until", "sleeping", 1))
        p.unlock(f"mutex{rank}")
        p.goto(loop)
        p.label(end)
    p.end()
    return p


def withdraw_readers(p, o):
    wait = p.unique("readers")
    p.label(wait)
    p.load("x", "readers", o("withdraw", "readers"))
    p.jump(lambda r: r["x"] != 0, wait)


def fail_all(p, o, number):
    late = p.unique("late")
    p.let("x", lambda r: 0)
    p.cas("ok", "x", "claimed", 1, *o("fail_all", "claimed"))
    p.jump(lambda r: not r["ok"], late)
    p.write("text", number)
    p.store("failed", 1, o("fail_all", "failed"))
    p.label(late)


def reader(o, rank):
    """Reads rank 0's memory after an exchange, then comes to the next one, which fails."""
    p = Program(f"rank{rank}", x=0, ok=0)
    p.rmw("x", "readers", lambda old, r: old + 1, o("exchange", "readers"))
    p.load("x", "failed", o("exchange", "failed"))
    p.jump(lambda r: r["x"], "leaves")
    p.read("x", "data0")
    p.label("leaves")
    p.rmw("x", "readers", lambda old, r: old - 1, o("stop_reading", "readers"))
    p.label("next")
    p.load("x", "failed", o("run_exchange", "failed", 0))
    p.jump(lambda r: not r["x"], "next")
    p.read("x", "text")
    withdraw_readers(p, o)
    p.end()
    return p


def failing(o, rank):
    """Fails, and after that uses its memory for something else."""
    p = Program(f"rank{rank}", x=0, ok=0)
    fail_all(p, o, rank)
    p.label("next")
    p.load("x", "failed", o("run_exchange", "failed", 0))
    p.jump(lambda r: not r["x"], "next")
    p.read("x", "text")
    withdraw_readers(p, o)
    p.write(f"data{rank}", 9)
    p.end()
    return p


def giving_up(o):
    """Posts a message, takes it back, and uses the memory for something else."""
    p = Program("rank0", ok=0, state=0)
    post(p, o, 0, 1)
    p.label("again")
    p.let("state", lambda r: POSTED)
    p.cas("ok", "state", "state0", EMPTY, *o("withdraw", "state", 0))
    p.jump(lambda r: r["ok"], "out")
    p.jump(lambda r: r["state"] != TAKEN, "again")
    p.store("state0", EMPTY, o("withdraw", "state", 1))
    p.label("out")
    p.write("data0", 9)
    p.write("part0", 9)
    p.end()
    return p


def receiving(o):
    p = Program("rank1", x=0, state=0, ok=0)
    try_receive(p, o, 0, 1, "out")
    p.label("out")
    p.end()
    return p


def models(o):
    places = ["data0", "part0", "data1", "part1"]
    words = [f"{name}{rank}" for name in ("state", "events", "sleeping") for rank in (0, 1)]
    errors = ["claimed", "failed", "readers"]
    return {
        "an exchange": Explorer([exchanging(o, 0, 1), exchanging(o, 1, 1)], words, places).run,
        "a reader": Explorer([failing(o, 0), reader(o, 1)], errors, ["data0", "text"]).run,
        "two failures": Explorer([failing(o, 0), failing(o, 1)], errors, ["data0", "data1", "text"]).run,
        "a message taken back": Explorer([giving_up(o), receiving(o)], ["state0"], ["data0", "part0"]).run,
        "two exchanges": Explorer([exchanging(o, 0, 2), exchanging(o, 1, 2)], words, places).run,
    }

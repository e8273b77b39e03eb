"""A model of runtime/feeds/queue.c: a ring under one lock, with one condition for both sides."""
from explore import Explorer, Program


def side(name, items, is_full, step, sleepers):
    """Pushes (step 1) or pops (step -1) items; waits while there is no room, or nothing."""
    p = Program(name, size=0)
    for i in range(items):
        again, out = f"again{i}", f"out{i}"
        p.lock("mutex")
        p.label(again)
        p.read("size", "size")
        p.jump(lambda r: not is_full(r["size"]), out)
        p.wait("changed", "mutex")
        p.goto(again)
        p.label(out)
        p.write("size", lambda r: r["size"] + step)
        p.signal("changed", sleepers)
        p.unlock("mutex")
    p.end()
    return p


def models(sleepers):
    """`sleepers`: how many a change wakes."""
    capacity = 1

    def push(name, items):
        return side(name, items, lambda size: size == capacity, 1, sleepers)

    def pop(name, items):
        return side(name, items, lambda size: size == 0, -1, sleepers)
    return {"one each": Explorer([push("producer", 3), pop("consumer", 3)], [], ["size"]).run,
            "two each": Explorer([push("producer0", 2), push("producer1", 2), pop("consumer0", 2), pop("consumer1", 2)],
                                 [], ["size"]).run}

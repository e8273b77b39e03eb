"""not_a_guest.py HOW ...: an emulator that does not run the guest, but says something itself.

Takes the guest's command line after HOW, and writes to the socket of rank 0, file 3. HOW `sleep` says nothing, and
writes the process's number to the file PID."""
import os
import signal
import struct
import sys


def text(value):
    return struct.pack("<I", len(value)) + value


def numbers(form, *values):
    return struct.pack("<" + form, *values)


def leaf(name=b"x", rank=1, dims=(4,), order=(0,), size=16, kind=18, align=4, alias=-1, size_of=0, size_dim=0):
    return (text(name) + text(b"row-major") + numbers("i", rank) + numbers(f"{len(dims)}q", *dims) + b"\1" +
            numbers(f"{len(order)}q", *order) + numbers("QiIiii", size, kind, align, alias, size_of, size_dim) + text(b""))


def module(name, inputs=(), outputs=(), align=64, replicas=1, counts=None):
    counts = counts or (len(inputs), len(outputs), 0)
    return (text(name) + text(b"anything") + numbers("7Q", *[0] * 7) +
            numbers("7I", align, 0, replicas, 1, *counts) + b"".join(inputs) + b"".join(outputs))


def say(what):
    try:
        while what:
            what = what[os.write(3, what):]
    except OSError:
        pass  # hlo-run has heard enough


HOW, COMMAND = sys.argv[1], sys.argv[2:]
NAME = COMMAND[3].encode()
DESCRIPTIONS = {
    "name": module(b"other"),
    "nothing": bytes(1000),
    "ones": b"\xff" * 1000,
    "long-text": numbers("I", 0xfffffffe),
    "many-leaves": module(NAME, counts=(0xffffffff, 0, 0)),
    "many-operations": module(NAME, counts=(0, 0, 0xffffffff)),
    "arena": module(NAME, align=3),
    "ranks": module(NAME, replicas=0),
    "rank": module(NAME, [leaf(rank=-1)]),
    "large-rank": module(NAME, [leaf(rank=0x7fffffff)]),
    "dims": module(NAME, [leaf(dims=(-4,))]),
    "product": module(NAME, [leaf(rank=2, dims=(1 << 62, 1 << 62), order=(1, 0))]),
    "order": module(NAME, [leaf(order=(7,))]),
    "order-twice": module(NAME, [leaf(rank=2, dims=(2, 2), order=(0, 0))]),
    "bytes": module(NAME, [leaf(size=1 << 60)]),
    "type": module(NAME, [leaf(kind=12345)]),
    "align": module(NAME, [leaf(align=0)]),
    "alias": module(NAME, [leaf(alias=5)]),
    "size-of": module(NAME, [leaf(kind=8, rank=0, dims=(), order=(), size=8, size_of=9)]),
}
if HOW == "sleep":
    with open(os.environ["PID"], "w") as file:
        file.write(str(os.getpid()))
    signal.pause()
if HOW == "closed":
    os.close(3)
    signal.pause()
GOOD = module(NAME, [leaf()], [leaf(name=b"out")])
if HOW in DESCRIPTIONS:
    say(DESCRIPTIONS[HOW])
elif COMMAND[1] == "describe":
    say(GOOD)
else:
    RUNS = {
        "kind": b"\x07" + bytes(1000),
        "feed": b"\3\0" + bytes(1000),
        "feed-kind": b"\3\x55" + bytes(1000),
        "status": b"\4" + numbers("i", 5) + text(b"what it says") + numbers("Q", 1),
        "half": b"\4" + numbers("i", 0) + text(b"") + numbers("Q", 1) + bytes(15),
    }
    os.read(3, 1)  # as the guest does, so that it is not an error to send something here
    say(RUNS[HOW])

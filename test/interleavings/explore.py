"""Every execution of a small program of several threads under the memory orders of C11.

Memory is, for each atomic word, the list of its stores in modification order. A thread has a view: for each word the last
store that it must know of. A load may return any store from there on; an acquire load takes over the view that a release
store carries; a read-modify-write stands directly after the store that it read. Sequentially consistent operations also
obey one order of all of them. Plain memory is checked for races: an access must know of the last conflicting ones.

Not modelled: loads that return stores of the future (load buffering), and consume.
"""
import collections

RELAXED, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST = "relaxed", "acquire", "release", "acq_rel", "seq_cst"
ACQUIRES, RELEASES = {ACQUIRE, ACQ_REL, SEQ_CST}, {RELEASE, ACQ_REL, SEQ_CST}

Message = collections.namedtuple("Message", "value view bound")
# An instruction: `kind` and its arguments. Registers are a dictionary of numbers.
Op = collections.namedtuple("Op", "kind args")


class Wrong(Exception):
    """What an execution does that no execution may."""


class Program:
    """The code of a thread. Values are numbers or functions of the registers."""

    def __init__(self, name, **registers):
        self.name, self.ops, self.labels, self.registers = name, [], {}, registers
        self.numbers = 0

    def add(self, kind, *args):
        self.ops.append(Op(kind, args))

    def label(self, name):
        self.labels[name] = len(self.ops)

    def unique(self, name):
        self.numbers += 1
        return f"{name}{self.numbers}"

    # Atomic words.
    def load(self, register, word, order):
        self.add("load", register, word, order)

    def store(self, word, value, order):
        self.add("store", word, value, order)

    def rmw(self, register, word, function, order):
        """register = word; word = function(register)."""
        self.add("rmw", register, word, function, order)

    def cas(self, succeeded, register, word, desired, order, failure):
        """If word == register: word = desired; else register = word."""
        self.add("cas", succeeded, register, word, desired, order, failure)

    # Plain memory.
    def read(self, register, place):
        self.add("read", register, place)

    def write(self, place, value):
        self.add("write", place, value)

    # Control. `either` goes on at one of two places.
    def goto(self, label):
        self.add("jump", lambda r: True, label)

    def jump(self, condition, label):
        self.add("jump", condition, label)

    def either(self, label):
        self.add("either", label)

    def let(self, register, value):
        self.add("let", register, value)

    def expect(self, condition, text):
        self.add("expect", condition, text)

    def end(self):
        self.add("end")

    # The system: futexes, mutexes with conditions, joining a thread.
    def futex_wait(self, word, expected):
        self.add("futex_wait", word, expected)

    def futex_wake(self, word, count):
        self.add("futex_wake", word, count)

    def lock(self, mutex):
        self.add("lock", mutex)

    def unlock(self, mutex):
        self.add("unlock", mutex)

    def wait(self, condition, mutex):
        """Releases the mutex and sleeps; then takes it again."""
        self.add("sleep", condition, mutex)
        self.add("lock", mutex)

    def signal(self, condition, count=1):
        self.add("wake", condition, count)

    def join(self, thread):
        self.add("join", thread)

    def live(self):
        """For each instruction the registers whose values matter before it: states that differ in others are one."""
        uses, sets, follow = [], [], []
        for pc, op in enumerate(self.ops):
            names = {c for a in op.args if callable(a) for c in a.__code__.co_consts if isinstance(c, str)}
            if op.kind == "cas":
                names.add(op.args[1])
            uses.append(names & self.registers.keys())
            sets.append({op.args[0]} if op.kind in ("load", "rmw", "cas", "read", "let") else set())
            targets = [self.labels[a] for a in op.args if op.kind in ("jump", "either") and a in self.labels]
            follow.append(targets + ([] if op.kind == "end" else [pc + 1]))
        live = [set() for _ in self.ops]
        changed = True
        while changed:
            changed = False
            for pc in reversed(range(len(self.ops))):
                after = set().union(*(live[f] for f in follow[pc] if f < len(live)))
                before = uses[pc] | (after - sets[pc])
                changed, live[pc] = changed or before != live[pc], before
        return live


def join_views(a, b):
    return tuple(map(max, a, b))


class Explorer:
    """Explores all executions of programs over atomic words and plain places, all 0 at first."""

    def __init__(self, programs, words, places=(), final=None, most=400000):
        self.programs, self.words, self.places = programs, {w: i for i, w in enumerate(words)}, {}
        self.final, self.most = final, most
        at = len(words)
        # Per place: its writes, and the reads of each thread.
        for place in places:
            self.places[place] = at
            at += 1 + len(programs)
        self.size = at
        self.live = [program.live() for program in programs]

    def start(self):
        zero = (0,) * self.size
        memory = tuple((Message(0, zero, False),) for _ in self.words)
        threads = tuple((0, tuple(sorted(p.registers.items())), zero, None) for p in self.programs)
        plain = tuple((0, zero[:1 + len(self.programs)]) for _ in self.places)
        # seq_cst: per word the last store known to all; locks: holder and view; futexes: views of those that woke.
        return self.reduced(self.settled((memory, plain, threads, (0,) * len(self.words), (), ())))

    def run(self):
        """The number of states. Raises Wrong with the steps that lead to the fault."""
        first = self.start()
        seen, stack = {first}, [(first, None)]
        while stack:
            state, trace = stack.pop()
            try:
                steps = list(self.steps(state))
                if not steps:
                    self.check_end(state)
            except Wrong as fault:
                raise Wrong(f"{fault}\n" + self.text(trace)) from None
            for name, following in steps:
                if isinstance(following, Wrong):
                    raise Wrong(f"{following}\n" + self.text((name, trace)))
                following = self.reduced(following)
                if following not in seen:
                    seen.add(following)
                    stack.append((following, (name, trace)))
            if len(seen) > self.most:
                raise Wrong(f"more than {self.most} states")
        return len(seen)

    @staticmethod
    def text(trace):
        lines = []
        while trace:
            lines.append("    " + trace[0])
            trace = trace[1]
        return "\n".join(reversed(lines))

    def check_end(self, state):
        threads = state[2]
        ended = [pc is None for pc, *_ in threads]
        if self.final is not None:
            self.final(self, state)
        elif not all(ended):
            raise Wrong("nothing goes on: " + ", ".join(p.name for p, end in zip(self.programs, ended) if not end))

    def steps(self, state):
        for t, (pc, _, _, blocked) in enumerate(state[2]):
            if pc is None or blocked is not None and blocked[0] in ("futex", "condition"):
                continue
            op = self.programs[t].ops[pc]
            try:
                for detail, following in getattr(self, "do_" + op.kind)(state, t, *op.args):
                    try:
                        yield f"{self.programs[t].name}: {op.kind} {detail}", self.settled(following, t)
                    except Wrong as fault:
                        yield f"{self.programs[t].name}: {op.kind} {detail}", fault
            except Wrong as fault:
                yield f"{self.programs[t].name}: {op.kind}", fault

    def settled(self, state, only=None):
        """Jumps and plain memory need no step of their own: whether an access is a race depends on what threads know, not
        on when it happens."""
        for t, program in enumerate(self.programs):
            if only is not None and t != only:
                continue
            pc, registers, view, blocked = state[2][t]
            r = dict(registers)
            while pc is not None:
                op = program.ops[pc]
                if op.kind == "jump":
                    pc = program.labels[op.args[1]] if op.args[0](r) else pc + 1
                elif op.kind == "let":
                    r[op.args[0]] = op.args[1](r)
                    pc += 1
                elif op.kind == "expect":
                    if not op.args[0](r):
                        raise Wrong(f"{program.name}: {op.args[1]}: {r}")
                    pc += 1
                elif op.kind == "read":
                    state, view, r[op.args[0]] = self.read(state, t, view, op.args[1])
                    pc += 1
                elif op.kind == "write":
                    value = op.args[1](r) if callable(op.args[1]) else op.args[1]
                    state, view = self.write(state, t, view, op.args[0], value)
                    pc += 1
                elif op.kind == "end":
                    pc = None
                else:
                    break
            # Registers that nothing reads any more are as good as 0.
            live = self.live[t][pc] if pc is not None else ()
            settled = (pc, tuple((name, value if name in live else 0) for name, value in sorted(r.items())), view, blocked)
            state = state[:2] + (state[2][:t] + (settled,) + state[2][t + 1:],) + state[3:]
        return state

    def reduced(self, state):
        """The same without what no thread can see: stores that all know to be overwritten."""
        memory, plain, threads, order, locks, futexes = state
        least = tuple(map(min, zip(*(view for _, _, view, _ in threads))))
        if not any(least):
            return state

        def less(view):
            return tuple(v - m if v > m else 0 for v, m in zip(view, least))
        memory = tuple(tuple(Message(m.value, less(m.view), m.bound and i > 0) for i, m in enumerate(messages[least[w]:]))
                       for w, messages in enumerate(memory))
        starts = list(self.places.values())
        plain = tuple((value, tuple(c - least[at + i] for i, c in enumerate(clocks)))
                      for (value, clocks), at in zip(plain, starts))
        threads = tuple((pc, r, less(view), blocked) for pc, r, view, blocked in threads)
        return (memory, plain, threads, tuple(max(0, o - m) for o, m in zip(order, least)),
                tuple((name, holder, less(view)) for name, holder, view in locks),
                tuple((word, less(view)) for word, view in futexes))

    # A thread's next instruction, with changes.
    def next(self, state, t, view=None, pc=None, blocked=None, registers=None):
        threads = list(state[2])
        old_pc, old, old_view, _ = threads[t]
        r = old if not registers else tuple(sorted({**dict(old), **registers}.items()))
        threads[t] = (old_pc + 1 if pc is None else pc, r, old_view if view is None else view, blocked)
        return state[:2] + (tuple(threads),) + state[3:]

    def registers(self, state, t):
        return dict(state[2][t][1])

    def value(self, state, t, value):
        return value(self.registers(state, t)) if callable(value) else value

    def known(self, state, t, w, order):
        """The first store of word w that the thread may read."""
        least = state[2][t][2][w]
        return max(least, state[3][w]) if order == SEQ_CST else least

    def after_read(self, view, w, index, message, order):
        view = view[:w] + (max(view[w], index),) + view[w + 1:]
        return join_views(view, message.view) if order in ACQUIRES else view

    def mark(self, state, w, index, order):
        """The order of sequentially consistent operations."""
        if order != SEQ_CST or state[3][w] >= index:
            return state
        return state[:3] + (state[3][:w] + (index,) + state[3][w + 1:],) + state[4:]

    def shifted(self, state, w, index):
        """The state with room for a store of word w at the index."""
        if index == len(state[0][w]):
            return state

        def move(view):
            return view if view[w] < index else view[:w] + (view[w] + 1,) + view[w + 1:]
        memory = tuple(tuple(m._replace(view=move(m.view)) for m in messages) for messages in state[0])
        threads = tuple((pc, r, move(view), blocked) for pc, r, view, blocked in state[2])
        locks = tuple((name, holder, move(view)) for name, holder, view in state[4])
        futexes = tuple((word, move(view)) for word, view in state[5])
        return memory, state[1], threads, move(state[3]), locks, futexes

    def put(self, state, t, w, index, value, view, carried, order, bound):
        """Stores at the index. `carried` is the view of the store that was read, None for a plain store."""
        state = self.shifted(state, w, index)
        view = view[:w] + (index,) + view[w + 1:]
        own = tuple(index if i == w else 0 for i in range(self.size))
        given = view if order in RELEASES else own
        if carried is not None:
            given = join_views(given, carried)
        messages = state[0][w]
        messages = messages[:index] + (Message(value, given, bound),) + messages[index:]
        state = (state[0][:w] + (messages,) + state[0][w + 1:],) + state[1:]
        return self.mark(state, w, index, order), view

    def do_load(self, state, t, register, word, order):
        w = self.words[word]
        for index in range(self.known(state, t, w, order), len(state[0][w])):
            message = state[0][w][index]
            view = self.after_read(state[2][t][2], w, index, message, order)
            yield f"{word} gives {message.value}", self.next(self.mark(state, w, index, order), t, view, registers={register: message.value})

    def do_store(self, state, t, word, value, order):
        w, value = self.words[word], self.value(state, t, value)
        for index in range(self.known(state, t, w, order) + 1, len(state[0][w]) + 1):
            if index < len(state[0][w]) and state[0][w][index].bound:
                continue
            moved = self.shifted(state, w, index)
            changed, view = self.put(state, t, w, index, value, moved[2][t][2], None, order, False)
            yield f"{word} = {value}", self.next(changed, t, view)

    def update(self, state, t, w, index, value, order):
        message = state[0][w][index]
        view = self.after_read(state[2][t][2], w, index, message, order)
        if index + 1 < len(state[0][w]):  # the view moves with the stores behind
            view = view[:w] + (view[w] + (view[w] > index),) + view[w + 1:]
        return self.put(state, t, w, index + 1, value, view, message.view, order, True)

    def is_free(self, state, w, index):
        return index + 1 == len(state[0][w]) or not state[0][w][index + 1].bound

    def do_rmw(self, state, t, register, word, function, order):
        w, r = self.words[word], self.registers(state, t)
        for index in range(self.known(state, t, w, order), len(state[0][w])):
            if self.is_free(state, w, index):
                old = state[0][w][index].value
                new = function(old, r)
                changed, view = self.update(state, t, w, index, new, order)
                yield f"{word} {old} -> {new}", self.next(changed, t, view, registers={register: old})

    def do_cas(self, state, t, succeeded, register, word, desired, order, failure):
        w, r = self.words[word], self.registers(state, t)
        for index in range(self.known(state, t, w, order), len(state[0][w])):
            message = state[0][w][index]
            if message.value == r[register]:
                if self.is_free(state, w, index):
                    new = self.value(state, t, desired)
                    changed, view = self.update(state, t, w, index, new, order)
                    yield f"{word} {message.value} -> {new}", self.next(changed, t, view, registers={succeeded: 1})
            elif index >= self.known(state, t, w, failure):
                view = self.after_read(state[2][t][2], w, index, message, failure)
                yield f"{word} is {message.value}", self.next(self.mark(state, w, index, failure), t, view,
                                                              registers={succeeded: 0, register: message.value})

    def plain(self, state, view, place, writes):
        at = self.places[place]
        number = list(self.places).index(place)
        value, clocks = state[1][number]
        if view[at] < clocks[0] or writes and any(view[at + i] < clocks[i] for i in range(1, len(clocks))):
            raise Wrong(f"a race on {place}")
        return at, number, value, clocks

    def read(self, state, t, view, place):
        at, number, value, clocks = self.plain(state, view, place, False)
        mine = at + 1 + t
        # A further read is told from the last one only if somebody knows of that.
        others = [v for i, (_, _, v, _) in enumerate(state[2]) if i != t]
        others += [m.view for messages in state[0] for m in messages]
        others += [v for _, _, v in state[4]] + [v for _, v in state[5]]
        if clocks[1 + t] == 0 or any(v[mine] == clocks[1 + t] for v in others):
            clocks = clocks[:1 + t] + (clocks[1 + t] + 1,) + clocks[2 + t:]
            view = view[:mine] + (clocks[1 + t],) + view[mine + 1:]
        return self.with_plain(state, number, (value, clocks)), view, value

    def write(self, state, t, view, place, value):
        at, number, _, clocks = self.plain(state, view, place, True)
        clocks = (clocks[0] + 1,) + clocks[1:]
        view = view[:at] + (clocks[0],) + view[at + 1:]
        return self.with_plain(state, number, (value, clocks)), view

    @staticmethod
    def with_plain(state, number, entry):
        return (state[0], state[1][:number] + (entry,) + state[1][number + 1:]) + state[2:]

    def do_either(self, state, t, label):
        yield "goes on", self.next(state, t)
        yield f"goes to {label}", self.next(state, t, pc=self.programs[t].labels[label])

    # The kernel compares and falls asleep under a lock that a waker takes too: it sees what a waker of this word knew, else
    # anything that the thread itself could read.
    def do_futex_wait(self, state, t, word, expected):
        w, expected = self.words[word], self.value(state, t, expected)
        given = dict(state[5]).get(word)
        least = max(state[2][t][2][w], given[w] if given else 0)
        values = {m.value for m in state[0][w][least:]}
        if values - {expected}:
            yield f"{word}: not {expected}", self.next(state, t)
        if expected in values:
            yield f"{word}: sleeps", self.next(state, t, blocked=("futex", word, expected))

    def woken(self, state, t, kind, name, count):
        """The states in which up to `count` sleepers are awake."""
        sleepers = [i for i, (_, _, _, blocked) in enumerate(state[2]) if blocked and blocked[:2] == (kind, name)]
        chosen = [sleepers] if count >= len(sleepers) else [[s] for s in sleepers] if count == 1 else [sleepers[:count]]
        for some in chosen:
            threads = tuple(entry[:3] + (None,) if i in some else entry for i, entry in enumerate(state[2]))
            yield f"{name}: {len(some)} awake", state[:2] + (threads,) + state[3:]

    def do_futex_wake(self, state, t, word, count):
        futexes = dict(state[5])
        view = state[2][t][2]
        futexes[word] = join_views(futexes[word], view) if word in futexes else view
        state = state[:5] + (tuple(sorted(futexes.items())),)
        for detail, following in self.woken(self.next(state, t), t, "futex", word, self.value(state, t, count)):
            yield detail, following

    def do_lock(self, state, t, mutex):
        locks = {name: (holder, view) for name, holder, view in state[4]}
        holder, view = locks.get(mutex, (None, (0,) * self.size))
        if holder is None:
            locks[mutex] = (t, view)
            yield mutex, self.next(self.with_locks(state, locks), t, join_views(state[2][t][2], view))

    @staticmethod
    def with_locks(state, locks):
        return state[:4] + (tuple(sorted((name, *entry) for name, entry in locks.items())),) + state[5:]

    def released(self, state, t, mutex):
        locks = {name: (holder, view) for name, holder, view in state[4]}
        locks[mutex] = (None, state[2][t][2])
        return self.with_locks(state, locks)

    def do_unlock(self, state, t, mutex):
        yield mutex, self.next(self.released(state, t, mutex), t)

    def do_sleep(self, state, t, condition, mutex):
        yield condition, self.next(self.released(state, t, mutex), t, blocked=("condition", condition))

    def do_wake(self, state, t, condition, count):
        for detail, following in self.woken(self.next(state, t), t, "condition", condition, count):
            yield detail, following

    def do_join(self, state, t, thread):
        pc, _, view, _ = state[2][thread]
        if pc is None:
            yield self.programs[thread].name, self.next(state, t, join_views(state[2][t][2], view))

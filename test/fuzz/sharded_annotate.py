"""Meshes and shardings, and how they are written into a module's text.

A Plan says which instructions of a module have which shardings; it is plain data (JSON), so that a reducer can take parts of
it away and write the module again. A sharding names, for each dimension, axes of a mesh of the plan or parts of axes.

  Plan = {"partitions": 8, "form": "hlo" | "sdy" | "both", "meshes": [Mesh, ...], "notes": [Note, ...], "packs": [[first, last], ...],
          "header": the module says how many partitions it has, "alias": a result takes a parameter's place,
          "replicas": 2, absent for one, "free": null | "parameters" | "output", shardings that propagation may change}
  Mesh = {"sizes": [2, 4], "devices": null | [3, 1, ...]}      devices in the order of the mesh's positions
  Note = {"in": computation, "at": instruction, "kind": "op" | "constraint" | "result", "mesh": 0, "dims": [[axis, ...], ...], ...}
  axis = [index, before, size]                  the part of the axis behind `before` parts: "x":(before)size

Kinds of notes: `op` is an attribute of the instruction, which may be a parameter; `constraint` is a custom call `Sharding`
whose result replaces the value; `result` is the sharding of an element of the entry's root; `manual` makes a call of an
element-wise computation a region on shards, manual along the axes of its key "manual".

Further keys of a note: "open", per dimension: the partitioner may split it further; "priority", per dimension (Shardy);
"replicated", axes that no partitioner may use (Shardy); "explicit": the devices are listed one by one; "split": half of the
users keep the value without the constraint; "maximal": the device that alone holds the value; "named": written as axes of a
mesh in HLO's form too; "subgroups": the replicated tile dimension is written as a subgroup.

In the form "hlo" each note may have a mesh of its own, in "sdy" all are over the first mesh, and "both" writes what JAX writes.
"""
import math
import random
import re

AXES = "xyz"


# ---- shardings as text ------------------------------------------------------------------------------------------------
def refined(mesh, note):
    """The mesh with axes cut so that each used part is a whole axis: (sizes, for each dimension the indices of its axes)."""
    cuts = [{1, size} for size in mesh["sizes"]]
    for axes in note["dims"]:
        for index, before, size in axes:
            cuts[index] |= {before, before * size}
    sizes, place = [], {}
    for index, points in enumerate(cuts):
        ordered = sorted(points)
        for before, behind in zip(ordered, ordered[1:]):
            place[index, before] = len(sizes)
            sizes.append(behind // before)
    dims = []
    for axes in note["dims"]:
        used = []
        for index, before, size in axes:
            at = before
            while at < before * size:
                k = place[index, at]
                used.append(k)
                at *= sizes[k]
        dims.append(used)
    return sizes, dims


def device_order(mesh, note):
    """(tile dimensions, devices in their order, iota dimensions, permutation); the last tile dimension enumerates replicas."""
    sizes, dims = refined(mesh, note)
    used = [k for axes in dims for k in axes]
    rest = [k for k in range(len(sizes)) if k not in used]
    tiles = [math.prod(sizes[k] for k in axes) for axes in dims]
    replicas = math.prod(sizes[k] for k in rest)
    order = used + rest
    count = math.prod(sizes)
    devices = []
    for position in range(count):
        index = position
        digits = {}
        for k in reversed(order):
            digits[k] = index % sizes[k]
            index //= sizes[k]
        flat = 0
        for k, size in enumerate(sizes):
            flat = flat * size + digits[k]
        devices.append(mesh["devices"][flat] if mesh["devices"] else flat)
    return tiles + [replicas] * (replicas > 1), devices, sizes, order, replicas > 1


def hlo_text(plan, note):
    """The sharding as the value of `sharding=`."""
    if note.get("maximal") is not None:
        return f"{{maximal device={note['maximal']}}}"
    mesh = plan["meshes"][note["mesh"]]
    if not any(note["dims"]):
        return "{replicated}"
    if note.get("named"):
        return named_text(mesh, note)
    tiles, devices, sizes, order, is_partial = device_order(mesh, note)
    if mesh["devices"] or note.get("explicit"):
        where = ",".join(map(str, devices))
    elif order == sorted(order):
        where = f"<=[{len(devices)}]"
    else:
        where = f"<=[{','.join(map(str, sizes))}]T({','.join(map(str, order))})"
    tail = (" last_tile_dims={replicated}" if note.get("subgroups") else " last_tile_dim_replicate") if is_partial else ""
    return f"{{devices=[{','.join(map(str, tiles))}]{where}{tail}}}"


def named_text(mesh, note):
    """The sharding as HLO writes axes of a mesh."""
    axes = ",".join(f"'{AXES[i]}'={size}" for i, size in enumerate(mesh["sizes"]))
    devices = f", device_ids=({','.join(map(str, mesh['devices']))})" if mesh["devices"] else ""

    def one(axis):
        index, before, size = axis
        return f"'{AXES[index]}'" + ("" if size == mesh["sizes"][index] else f":({before}){size}")
    dims = ", ".join("{" + ",".join(one(a) for a in axes) + "}" for axes in note["dims"])
    return f"{{mesh[{axes}]{devices}, [{dims}]}}"


def axis_text(mesh, axis):
    index, before, size = axis
    name = f'\\"{AXES[index]}\\"'
    return name if size == mesh["sizes"][index] else f"{name}:({before}){size}"


def mesh_name(k):
    return "mesh" if k == 0 else f"mesh_{k}"


def sdy_text(plan, note):
    """The sharding as Shardy prints it between `<` and `>`, with its quotes escaped."""
    mesh, dims = plan["meshes"][note["mesh"]], []
    for d, axes in enumerate(note["dims"]):
        words = [axis_text(mesh, a) for a in axes] + ["?"] * bool(note.get("open", [False] * 99)[d])
        priority = note.get("priority", [None] * 99)[d]
        dims.append("{" + ", ".join(words) + "}" + (f"p{priority}" if priority is not None and words else ""))
    tail = ""
    if note.get("replicated"):
        tail = ", replicated={" + ", ".join(axis_text(mesh, a) for a in note["replicated"]) + "}"
    return f"@{mesh_name(note['mesh'])}, [{', '.join(dims)}]{tail}"


def mesh_text(k, mesh):
    axes = ", ".join(f'"{AXES[i]}"={size}' for i, size in enumerate(mesh["sizes"]))
    devices = f", device_ids={mesh['devices']}" if mesh["devices"] else ""
    return f"{mesh_name(k)} = #sdy.mesh<[{axes}]{devices}>"


# ---- modules ----------------------------------------------------------------------------------------------------------
def called(computations):
    """Heads of the computations whose values are arrays of the program: the entry, bodies, branches and called ones."""
    found = {computations[-1].head}
    for c in computations:
        for _, _, opcode, rest, _ in c.lines:
            if opcode == "while":
                found.update(re.findall(r"body=([\w.\-]+)", rest))
            elif opcode == "conditional":
                found.update(re.findall(r"(?:true_computation|false_computation)=([\w.\-]+)", rest))
                for names in re.findall(r"branch_computations=\{([^}]*)\}", rest):
                    found.update(n.strip() for n in names.split(","))
            elif opcode == "call" and "is_composite" not in rest:
                found.update(re.findall(r"to_apply=([\w.\-]+)", rest))
    return found


def array_dims(type_):
    """The dimensions of an array's type; None for tuples, tokens and bounded dimensions."""
    match = re.fullmatch(r"(\w+)\[([\d,]*)\](\{[\d,]*\})?", type_)
    return [int(d) for d in match[2].split(",") if d] if match and match[1] != "token" else None


def split_comment(rest):
    """(the instruction's own text, the comment behind it)"""
    at = rest.find("  // xla:")
    return (rest, "") if at < 0 else (rest[:at], rest[at:])


def with_attributes(rest, added):
    own, comment = split_comment(rest)
    return own + "".join(f", {a}" for a in added) + comment


def attributes_of(plan, note, kind):
    """The attributes that say a note's sharding; `kind`: a single one or one for each value of the instruction."""
    added = []
    if plan["form"] != "sdy":
        added.append(f"sharding={hlo_text(plan, note)}")
    if plan["form"] != "hlo":
        text = sdy_text(plan, note)
        value = f"#sdy.sharding<{text}>" if kind == "one" else f"#sdy.sharding_per_value<[<{text}>]>"
        added.append(f'frontend_attributes={{xla.sdy.sharding="{value}"}}')
    return added


def renamed(rest, old, new):
    own, comment = split_comment(rest)
    pattern = rf"(?<![\w.\-\"\\]){re.escape(old)}(?![\w.\-\"\\])"  # not the names of axes
    return re.sub(pattern, new, own) + re.sub(pattern, new, comment)


def constrain(plan, lines, note, suffix, target="Sharding", values="each"):
    """Puts a custom call behind the instruction; later lines use its result."""
    at = next((i for i, line in enumerate(lines) if line[0] == note["at"]), None)
    if at is None:
        return
    name, type_, _, _, is_root = lines[at]
    new = f"{name}.{suffix}"
    added = attributes_of(plan, note, values)
    if note.get("open") and any(note["open"]) and plan["form"] == "hlo":
        added.append(f'backend_config="unspecified_dims=[{",".join(str(d) for d, o in enumerate(note["open"]) if o)}]"')
    effect = ", custom_call_has_side_effect=true" if target != "Sharding" else ""
    seen = 0
    for line in lines[at + 1:]:
        if line[2] in ("parameter", "constant", "iota"):
            continue
        changed = renamed(line[3], name, new)
        if changed != line[3]:
            seen += 1
            if not note.get("split") or seen % 2:
                line[3] = changed
    lines[at][4] = False
    text = f'{name}), custom_call_target="{target}"{effect}, ' + ", ".join(added)
    lines.insert(at + 1, [new, type_, "custom-call", text, is_root])


def groups_text(plan, note, rank):
    """HLO's sharding of a value in a manual region: its dimensions are whole, subgroups say which axes are manual."""
    mesh = plan["meshes"][note["mesh"]]
    whole = [[i, 1, size] for i, size in enumerate(mesh["sizes"])]
    inside = [a for a in whole if a[0] in note["manual"]]
    tiles, devices, _, _, is_partial = device_order(mesh, {"dims": [inside]})
    if not is_partial:
        return "{manual}"
    return f"{{devices=[{','.join(['1'] * rank + [str(t) for t in tiles])}]{','.join(map(str, devices))} last_tile_dims={{manual, replicated}}}}"


def make_manual(plan, computations, bodies, lines, note, k):
    """Writes a call as a region on shards. A copy of its computation, one of `bodies`, gets the shards' shapes."""
    at = next((i for i, line in enumerate(lines) if line[0] == note["at"]), None)
    if at is None or lines[at][2] != "call":
        return
    name, type_, _, rest, is_root = lines[at]
    mesh, dims = plan["meshes"][note["mesh"]], array_dims(type_)
    counts = [math.prod(a[2] for a in axes) for axes in note["dims"]]
    if dims is None or any(d % n for d, n in zip(dims, counts)):
        return
    head = re.search(r"to_apply=([\w.\-]+)", rest)[1]
    head_of_copy = f"{head}.local.{k}" if plan["form"] == "hlo" else f"xla.sdy.manual_computation_body.{head}.{k}"
    old, new = (f"[{','.join(map(str, v))}]" for v in (dims, [d // n for d, n in zip(dims, counts)]))
    local = type(computations[0])(head_of_copy, [[n, t.replace(old, new), o, x, r] for n, t, o, x, r in bodies[head]])
    computations.insert(len(computations) - 1, local)
    operands, shard = re.findall(r"[A-Za-z_][\w.\-]*", rest.split(")")[0]), type_.replace(old, new)
    is_whole = len(note["manual"]) == len(mesh["sizes"])
    made, inside = [], []
    if plan["form"] == "hlo":
        outer, inner = hlo_text(plan, note), groups_text(plan, note, len(dims))
        open_ = "" if is_whole else f', backend_config="unspecified_dims=[{",".join(map(str, range(len(dims))))}]"'
        for i, x in enumerate(operands):
            made.append([f"{name}.s{i}", type_, "custom-call", f'{x}), custom_call_target="Sharding", sharding={outer}{open_}', False])
            inside.append(f"{name}.m{i}")
            made.append([inside[-1], shard, "custom-call", f'{name}.s{i}), custom_call_target="SPMDFullToShardShape", sharding={inner}{open_}', False])
        made.append([f"{name}.l", shard, "call", f"{', '.join(inside)}), to_apply={local.head}", False])
        made.append([f"{name}.ls", shard, "custom-call", f'{name}.l), custom_call_target="Sharding", sharding={inner}{open_}', False])
        made.append([name, type_, "custom-call", f'{name}.ls), custom_call_target="SPMDShardToFullShape", sharding={outer}{open_}', is_root])
    else:
        axes = ", ".join(f'\\"{AXES[i]}\\"' for i in sorted(note["manual"]))
        manual = f'xla.sdy.manual_axes="#sdy<manual_axes{{{axes}}}>"'
        one = f"<{sdy_text(plan, {**note, 'open': [not is_whole] * len(dims)})}>"
        made_in = f'frontend_attributes={{xla.sdy.in_shardings="#sdy.sharding_per_value<[{", ".join([one] * len(operands))}]>",{manual}}}'
        made_out = f'frontend_attributes={{{manual},xla.sdy.out_shardings="#sdy.sharding_per_value<[{one}]>"}}'
        types = shard if len(operands) == 1 else f"({', '.join([shard] * len(operands))})"
        made.append([f"{name}.m", types, "custom-call", f'{", ".join(operands)}), custom_call_target="xla.sdy.GlobalToLocalShape", '
                     f'custom_call_has_side_effect=true, {made_in}', False])
        inside = [f"{name}.m"] if len(operands) == 1 else [f"{name}.m{i}" for i in range(len(operands))]
        if len(operands) > 1:
            made += [[x, shard, "get-tuple-element", f"{name}.m), index={i}", False] for i, x in enumerate(inside)]
        made.append([f"{name}.l", shard, "call", f'{", ".join(inside)}), to_apply={local.head}, frontend_attributes={{inlineable="false"}}', False])
        made.append([name, type_, "custom-call", f'{name}.l), custom_call_target="xla.sdy.LocalToGlobalShape", '
                     f'custom_call_has_side_effect=true, {made_out}', is_root])
    lines[at:at + 1] = made


def root_elements(entry):
    """(index of the root line, names of the root's arrays): of a tuple its elements, if these are arrays."""
    at = next(i for i, line in enumerate(entry.lines) if line[4])
    name, type_, opcode, rest, _ = entry.lines[at]
    if opcode == "tuple":
        return at, re.findall(r"[A-Za-z_][\w.\-]*", rest.split(")")[0])
    return at, [name] if array_dims(type_) is not None else []


def annotate_results(plan, entry, notes):
    """Writes `result` notes: a sharding of the root, and for Shardy custom calls on its elements."""
    at, names = root_elements(entry)
    root = entry.lines[at]
    by_name = {n["at"]: n for n in notes}
    if plan["form"] != "hlo":
        for note in by_name.values():
            if note["at"] not in names:
                continue
            i = next(k for k, line in enumerate(entry.lines) if line[0] == note["at"])
            name, type_ = entry.lines[i][:2]
            text = f"#sdy.sharding_per_value<[<{sdy_text(plan, note)}>]>"
            call = [f"{name}.out", type_, "custom-call", f'{name}), custom_call_target="xla.sdy.FuncResultSharding", '
                    f'custom_call_has_side_effect=true, frontend_attributes={{xla.sdy.sharding="{text}"}}', False]
            if root[2] == "tuple":
                root[3] = renamed(root[3], name, call[0])
            else:
                root[4], call[4] = False, True
            where = next(k for k, line in enumerate(entry.lines) if line is root)
            entry.lines.insert(where + (0 if root[2] == "tuple" else 1), call)
    if plan["form"] != "sdy" and names:
        texts = [hlo_text(plan, by_name[n]) if n in by_name else "{replicated}" for n in names]
        line = next(line for line in entry.lines if line[4])
        if any(n in by_name for n in names) and "sharding=" not in line[3]:
            text = f"{{{', '.join(texts)}}}" if root[2] == "tuple" else texts[0]
            if root[2] != "tuple" or all("(" not in line[1][1:] for line in entry.lines if line[0] in names):
                line[3] = with_attributes(line[3], [f"sharding={text}"])


def pack(plan, entry, shardings):
    """Writes ranges of parameters as tuples: a parameter whose leaves they are."""
    lines = [line for line in entry.lines if line[2] == "parameter"]
    lines.sort(key=lambda line: int(line[3].split(")")[0]))
    groups, number = [], 0
    while number < len(lines):
        last = next((b for a, b in plan.get("packs", []) if a == number and b < len(lines)), number)
        is_pack = any(a == number and b == last for a, b in plan.get("packs", []))
        groups.append((lines[number:last + 1], is_pack))
        number = last + 1
    if not any(is_pack for _, is_pack in groups):
        return
    head = []
    for k, (members, is_pack) in enumerate(groups):
        if not is_pack:
            tail = members[0][3].split(")", 1)[1]
            members[0][3] = f"{k}){tail}"
            continue
        types, texts = [m[1] for m in members], [shardings.get(m[0]) for m in members]
        added = []
        if any(texts):
            added = [f"sharding={{{', '.join(t or '{replicated}' for t in texts)}}}"]
        head.append([f"packed.{k}", f"({', '.join(types)})", "parameter", with_attributes(f"{k})", added), False])
        for i, m in enumerate(members):
            m[2], m[3] = "get-tuple-element", f"packed.{k}), index={i}"
    entry.lines[:0] = head


def alias_text(plan, entry):
    """`input_output_alias` of the first result that has the type and the sharding of a parameter, if the plan wants one."""
    if not plan.get("alias") or plan.get("packs"):
        return ""

    def said(name, kind):
        notes = [n for n in plan["notes"] if n["in"] == entry.head and n["at"] == name and n["kind"] == kind]
        return (notes[0]["mesh"], notes[0]["dims"]) if notes else None
    at, names = root_elements(entry)
    types = {line[0]: line[1] for line in entry.lines}
    for k, result in enumerate(names):
        base = result.removesuffix(".out")
        base = re.sub(r"\.c\d+$", "", base)
        for name, type_, opcode, rest, _ in entry.lines:
            if opcode == "parameter" and type_ == types.get(result) and said(name, "op") and said(name, "op") == said(base, "result"):
                where = f"{{{k}}}" if entry.lines[at][2] == "tuple" else "{}"
                return f", input_output_alias={{ {where}: ({rest.split(')')[0]}, {{}}, may-alias) }}"
    return ""


def annotate(computations, plan, header=""):
    """The text of a module (reduce.Computation's, which are changed) with the plan's shardings."""
    heads = called(computations)
    bodies = {c.head: [list(line) for line in c.lines] for c in computations if c.head.startswith("region.")}
    for c in list(computations):
        name = c.head
        if name not in heads:
            continue
        is_entry = c is computations[-1]
        notes = [n for n in plan["notes"] if n["in"] == name]
        shardings = {}
        for note in notes:
            line = next((line for line in c.lines if line[0] == note["at"]), None)
            if line and note["kind"] == "op" and "sharding=" not in line[3] and "frontend_attributes=" not in line[3]:
                if line[2] == "parameter":
                    shardings[line[0]] = hlo_text(plan, note)
                line[3] = with_attributes(line[3], attributes_of(plan, note, "one" if line[2] == "parameter" else "each"))
        if is_entry:
            annotate_results(plan, c, [n for n in notes if n["kind"] == "result"])
        for k, note in enumerate(notes):
            if note["kind"] == "manual":
                make_manual(plan, computations, bodies, c.lines, note, k)
        for k, note in enumerate(notes):
            if note["kind"] == "constraint":
                constrain(plan, c.lines, note, f"c{k}")
        if is_entry and plan["form"] == "hlo":
            pack(plan, c, shardings)
    if plan["form"] != "hlo":
        meshes = ", ".join(mesh_text(k, m) for k, m in enumerate(plan["meshes"]))
        header += f", frontend_attributes={{xla.sdy.meshes={{{meshes}}}}}"
    header += alias_text(plan, computations[-1])
    if plan.get("free") and plan["form"] == "hlo":
        header += f", allow_spmd_sharding_propagation_to_{plan['free']}={{true}}"
    if plan.get("header"):
        header += f", num_partitions={plan['partitions']}"
    return f"HloModule sharded{header}\n\n" + "\n".join(c.text() for c in computations)


# ---- random plans -----------------------------------------------------------------------------------------------------
def random_mesh(r, partitions, is_simple):
    shapes = {2: [[2]], 4: [[4], [2, 2]], 8: [[8], [2, 4], [4, 2], [2, 2, 2]]}[partitions]
    sizes = list(r.choice(shapes))
    if r.random() < 0.08 and len(sizes) < 3:
        sizes.insert(r.randint(0, len(sizes)), 1)
    devices = None
    if not is_simple and r.random() < 0.4:
        devices = r.sample(range(partitions), partitions)
    return {"sizes": sizes, "devices": devices}


def random_dims(r, mesh, dims, allow_parts):
    """Axes for each dimension, each axis at most once; sizes that do not divide are rarer."""
    axes = [[i, 1, size] for i, size in enumerate(mesh["sizes"])]
    if allow_parts and r.random() < 0.15:
        k = r.randrange(len(axes))
        if axes[k][2] in (4, 8):
            axes[k:k + 1] = [[axes[k][0], 1, 2], [axes[k][0], 2, axes[k][2] // 2]]
    r.shuffle(axes)
    out, uneven = [[] for _ in dims], r.random() < 0.4
    if not dims:
        return out
    for axis in axes:
        if r.random() < 0.2:
            continue
        places = list(range(len(dims)))
        r.shuffle(places)
        for d in places:
            parts = math.prod(a[2] for a in out[d]) * axis[2]
            if uneven and dims[d] > 1 or dims[d] and dims[d] % parts == 0:
                out[d].append(axis)
                break
    # Adjacent parts of an axis are written as one.
    for axes in out:
        for a, b in list(zip(axes, axes[1:])):
            if a[0] == b[0] and a[1] * a[2] == b[1]:
                a[2] *= b[2]
                axes.remove(b)
                break
    return out


def random_note(r, plan, where, name, kind, dims):
    form = plan["form"]
    note = {"in": where, "at": name, "kind": kind, "mesh": 0}
    if form == "hlo" and len(plan["meshes"]) > 1 and r.random() < 0.4:
        note["mesh"] = r.randrange(len(plan["meshes"]))
    mesh = plan["meshes"][note["mesh"]]
    note["dims"] = random_dims(r, mesh, dims, allow_parts=True)
    if form == "hlo" and r.random() < 0.25:
        note["explicit"] = True
    if form == "hlo" and r.random() < 0.05:
        note[r.choice(["subgroups", "named"])] = True
    if kind == "constraint":
        if r.random() < 0.25:
            note["split"] = True
        if form == "hlo" and r.random() < 0.02:
            note["maximal"] = r.randrange(plan["partitions"])
    is_open = r.random() < 0.3 and kind in ("constraint", "op")
    if is_open and (form != "hlo" or kind == "constraint" and note.get("maximal") is None):
        note["open"] = [r.random() < 0.5 for _ in dims]
    if form == "sdy":
        if r.random() < 0.1:
            note["priority"] = [r.choice([None, 0, 1, 2]) for _ in dims]
        used = [(a[0], a[1]) for axes in note["dims"] for a in axes]
        free = [i for i in range(len(mesh["sizes"])) if not any(u[0] == i for u in used)]
        if free and r.random() < 0.1:
            note["replicated"] = [[i, 1, mesh["sizes"][i]] for i in free]
    return note


def random_manual(r, plan, where, name, dims):
    """A note `manual` whose axes divide their dimensions; None if there is none."""
    mesh = plan["meshes"][0]
    axes = [[i, 1, size] for i, size in enumerate(mesh["sizes"])]
    manual = [a[0] for a in axes] if r.random() < 0.6 else r.sample(range(len(axes)), r.randint(1, len(axes)))
    out = [[] for _ in dims]
    for axis in r.sample(axes, len(axes)):
        places = [d for d in range(len(dims)) if dims[d] and dims[d] % (axis[2] * math.prod(a[2] for a in out[d])) == 0]
        if axis[0] in manual and places and r.random() < 0.85:
            out[r.choice(places)].append(axis)
    return {"in": where, "at": name, "kind": "manual", "mesh": 0, "dims": out, "manual": manual} if any(out) else None


def random_plan(computations, seed):
    """Shardings for some of the values of a module."""
    r = random.Random(f"sharded {seed}")
    partitions = r.choice([2, 2, 4, 4, 8])
    form = r.choice(["hlo", "hlo", "sdy", "both"])
    plan = {"partitions": partitions, "form": form, "meshes": [random_mesh(r, partitions, r.random() < 0.6)], "notes": [], "packs": []}
    if form == "hlo":
        for _ in range(r.choice([0, 0, 0, 1, 2])):
            plan["meshes"].append(random_mesh(r, partitions, r.random() < 0.3))
    plan["header"], plan["alias"] = r.random() < 0.2, r.random() < 0.3
    if partitions < 8 and r.random() < 0.05 and all(line[2] != "replica-id" for c in computations for line in c.lines):
        plan["replicas"] = 2
    plan["free"] = r.choice(["parameters", "output"]) if r.random() < 0.1 else None
    entry, heads = computations[-1], called(computations)
    share = r.choice([0.1, 0.25, 0.25, 0.5, 0.9])
    parameters = r.choice([0.5, 0.8, 1.0])
    for c in computations:
        if c.head not in heads:
            continue
        for name, type_, opcode, rest, _ in c.lines:
            dims = array_dims(type_)
            if dims is None or rest.endswith("// xla: -"):
                continue
            if opcode == "parameter" and c is entry:
                if dims and r.random() < parameters:
                    plan["notes"].append(random_note(r, plan, c.head, name, "op", dims))
                continue
            if opcode == "call" and "to_apply=region." in rest and c is entry and r.random() < 0.8:
                note = random_manual(r, plan, c.head, name, dims)
                if note:
                    plan["notes"].append(note)
                    continue
            if not dims and r.random() < 0.9 or opcode in ("all-reduce-start", "domain"):
                continue
            if r.random() < share * 0.6:
                kind = "constraint"
                if opcode not in ("parameter", "get-tuple-element", "custom-call", "constant", "domain", "call", "while", "conditional",
                                  "fusion", "add-dependency", "optimization-barrier", "opt-barrier") and "  // xla:" not in rest \
                        and not opcode.endswith(("-start", "-done", "-update")) and r.random() < 0.4:
                    kind = "op"
                if form == "both" and kind == "op":
                    kind = "constraint"
                plan["notes"].append(random_note(r, plan, c.head, name, kind, dims))
    _, names = root_elements(entry)
    types = {line[0]: line[1] for line in entry.lines}
    if all(array_dims(types[n]) is not None for n in names) and r.random() < 0.8:
        for name in dict.fromkeys(names):
            if r.random() < 0.75 or not array_dims(types[name]):
                plan["notes"].append(random_note(r, plan, entry.head, name, "result", array_dims(types[name])))
    count = sum(line[2] == "parameter" for line in entry.lines)
    if form == "hlo" and count and r.random() < 0.15:
        first = r.randrange(count)
        plan["packs"].append([first, r.randint(first, count - 1)])
    return plan

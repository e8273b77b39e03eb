"""Rewrites a module in another notation that the text form allows, with the same leaves of parameters and results.

  dress.py MODULE.hlo SEED        prints the module

Parameters move into nested tuples; the header gets layouts and aliases; names get sigils, operands their types, instructions
attributes without effect; computations are written inline at their calls; white space and comments are added.
"""
import random
import re
import sys

from generate import braces

PARAMETER = re.compile(r"  (\S+) = (\S+) parameter\((\d+)\)")
LINE = re.compile(r"  (ROOT )?([\w.\-]+) = (.*)")
EXTRAS = ["metadata={op_name=\"jit(f)/a/b\" source_file=\"f.py\" source_line=7}", "frontend_attributes={a=\"b\",c={d = 1 : i64}}",
          "backend_config={\"window_config\":{\"x\":[\"1\",\"}\"]}}", "sharding={replicated}", "backend_config=\"\"", "metadata={}", "statistics={visualizing_index=0,a=1.5}"]


def split_type(text):
    """(type, rest) of the text after the equal sign."""
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == " " and depth == 0:
            return text[:i], text[i + 1:]
    return text, ""


def leaves(type_):
    """The array types of a type, with their indices."""
    if not type_.startswith("("):
        return [((), type_)]
    parts, depth, start = [], 0, 1
    for i, c in enumerate(type_):
        depth += (c in "([{") - (c in ")]}")
        if depth == 1 and c == "," or depth == 0:
            if type_[start:i].strip():
                parts.append(type_[start:i].strip())
            start = i + 1
    return [((k,) + index, leaf) for k, part in enumerate(parts) for index, leaf in leaves(part)]


class Dress:
    def __init__(self, text, seed):
        self.random = random.Random(seed)
        text = re.sub(r"  // xla: .*", "", text)
        head, self.entry = text.split("ENTRY main {\n")
        self.entry = self.entry.rstrip().removesuffix("}").rstrip().split("\n")
        self.before = head.split("\n", 1)[1]
        self.places = []  # of each leaf of the parameters: (parameter, index, type)

    def parameters(self):
        """Groups some adjacent parameters into tuples."""
        r = self.random
        found = sorted(((int(m[3]), i, m[1], m[2]) for i, m in ((i, PARAMETER.fullmatch(line)) for i, line in enumerate(self.entry)) if m))
        fresh, number, k, extra = 0, 0, 0, []
        while k < len(found):
            count = r.choice([1, 2, 3, 5]) if r.random() < 0.3 else 1
            group = found[k:k + count]
            k += len(group)
            if count == 1:
                self.entry[group[0][1]] = f"  {group[0][2]} = {group[0][3]} parameter({number})"
                self.places.append((number, (), group[0][3]))
            else:
                split = r.randint(0, len(group))
                inner, outer = group[split:], group[:split]
                inner_type = f"({', '.join(g[3] for g in inner)})"
                whole = f"({', '.join([g[3] for g in outer] + [inner_type])})"
                extra += [f"  packed.{fresh} = {whole} parameter({number})", f"  packed.{fresh + 1} = {inner_type} get-tuple-element(packed.{fresh}), index={split}"]
                for i, g in enumerate(outer):
                    self.entry[g[1]] = f"  {g[2]} = {g[3]} get-tuple-element(packed.{fresh}), index={i}"
                    self.places.append((number, (i,), g[3]))
                for i, g in enumerate(inner):
                    self.entry[g[1]] = f"  {g[2]} = {g[3]} get-tuple-element(packed.{fresh + 1}), index={i}"
                    self.places.append((number, (split, i), g[3]))
                fresh += 2
            number += 1
        self.entry = extra + self.entry

    def root(self):
        match = next(m for m in map(LINE.fullmatch, reversed(self.entry)) if m and m[1])
        return split_type(match[3])[0]

    def header(self):
        r, attributes, root = self.random, [], self.root()
        if r.random() < 0.3:  # results go where a parameter of the same type was
            free, pairs = [p for p in self.places if "{" not in p[2]], []
            for index, leaf in leaves(root):
                same = [p for p in free if p[2] == leaf]
                if same and r.random() < 0.6:
                    p = r.choice(same)
                    free.remove(p)
                    pairs.append(f"{braces(index)}: ({p[0]}, {braces(p[1])}, may-alias)")
            if pairs:
                attributes.append("input_output_alias={ " + ", ".join(pairs) + " }")
        elif r.random() < 0.3:  # results in other layouts
            def order(match):
                dims = match[0].count(",") + 1
                return match[0] + (braces(r.sample(range(dims), dims)) if dims > 1 and r.random() < 0.6 else "")
            shapes = {}
            for line in self.entry:
                match = re.fullmatch(r"  \S+ = (.*) parameter\((\d+)\)", line)
                if match:
                    shapes[int(match[2])] = match[1]
            result = re.sub(r"\[[\d,]+\](?!\{)", order, root)
            attributes.append(f"entry_computation_layout={{({', '.join(shapes[i] for i in sorted(shapes))})->{result}}}")
        if r.random() < 0.1:
            attributes.append(r.choice(["is_scheduled=true", "replica_count=1, num_partitions=1", "frontend_attributes={x=\"y\"}", "alias_passthrough_params=true"]))
        return "HloModule " + ", ".join(["dressed"] + attributes) + "\n"

    def line(self, match, types, previous):
        """An instruction in another notation."""
        r = self.random
        type_, rest = split_type(match[3])
        types[match[2]] = type_
        if r.random() < 0.1:
            def typed(operands):
                return ", ".join(f"{types[n]} {n}" if n in types else n for n in operands[2].split(", ")).join([operands[1] + "(", ")"])
            rest = re.sub(r"^([\w\-]+)\(([\w.\-]+(?:, [\w.\-]+)*)\)", typed, rest)
        if r.random() < 0.12:
            extra = r.choice(EXTRAS)
            rest += "" if extra.split("=")[0] + "=" in rest else ", " + extra
        if previous and r.random() < 0.03:
            rest += f", control-predecessors={{{previous}}}"
        gap = r.choice(["\n      ", " /* a, (b} */ ", "\t"]) if r.random() < 0.05 else " "
        return f"  {match[1] or ''}{match[2]} ={gap}{type_} {rest}"

    def text(self):
        r = self.random
        self.parameters()
        head, root, out, types, previous = self.header(), self.root(), [], {}, None
        plain = r.random() < 0.3
        sigils = r.random() < 0.4
        for line in (self.before + "ENTRY main {\n" + "\n".join(self.entry) + "\n}").split("\n"):
            match = LINE.fullmatch(line)
            if match and not plain:
                line, previous = self.line(match, types, previous), match[2]
            elif not match:
                types, previous = {}, None
            out.append(line)
        text = "\n".join(out) + "\n"
        if r.random() < 0.3:
            text = self.inlined(text)
        if r.random() < 0.3:
            text = text.replace("ENTRY main {", f"ENTRY main (whatever: f32[]) -> {root} {{")
        elif r.random() < 0.2:
            text = text.replace("ENTRY main {", "main {")
        if sigils:
            text = re.sub(r"(?<![\w.\-\"%])([A-Za-z_]\w*\.\d+)(?![\w.])", r"%\1", text)
        return head + text

    def inlined(self, text):
        """Writes some computations of a few lines inline at their calls."""
        for match in list(re.finditer(r"^([\w.\-]+) \{\n((?:  .*\n){2,7})\}\n", text, re.MULTILINE)):
            name, body = match[1], match[2]
            if self.random.random() < 0.4 and "  ROOT" in body:
                text = re.sub(rf"(?<=to_apply=){re.escape(name)}(?![\w.\-])", lambda _: "{\n" + body + "  }", text)
        return text


def dress(text, seed):
    return Dress(text, seed).text()


def main():
    with open(sys.argv[1]) as file:
        print(dress(file.read(), int(sys.argv[2])), end="")


if __name__ == "__main__":
    main()

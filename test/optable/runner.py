"""Runs cells on hlo-run, many in one module, and finds which of them are refused."""
import itertools
import os
import re
import struct
import subprocess
import zipfile

import cases as cells_module
from inputs import element
from values import descr, read_npz


def write_inputs(path, arguments):
    """in0, in1, ...: the arguments' raw bits."""
    with zipfile.ZipFile(path, "w") as archive:
        for i, argument in enumerate(arguments):
            form = element(argument.name)
            code = {1: "B", 2: "H", 4: "I", 8: "Q"}[max(form.bits, 8) // 8]
            header = repr({"descr": descr(argument.name), "fortran_order": False, "shape": tuple(argument.dims)}) + "\n"
            archive.writestr(f"in{i}.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() +
                             struct.pack(f"<{len(argument.raw)}{code}", *argument.raw))


def masked(name, raw):
    bits = element(name).bits
    return [x & (1 << bits) - 1 for x in raw]


class Runner:
    """Runs cells with a tool that takes hlo-run's flags. A runner is for one thread."""

    numbers = itertools.count()

    def __init__(self, tool, folder):
        self.tool, self.stem = tool, os.path.join(folder, f"cells{next(self.numbers)}")

    def run(self, cells):
        """One answer a cell: a list of raw outputs, or the message as text."""
        if not cells:
            return []
        answer = self.run_once(cells)
        if not isinstance(answer, str):
            return answer
        if len(cells) == 1:
            return [answer]
        middle = len(cells) // 2
        return self.run(cells[:middle]) + self.run(cells[middle:])

    def run_refused(self, cells):
        """As run, for cells that are expected to be refused: the verifier reports all errors of a module at once."""
        answers, rest = {}, cells
        while len(rest) > 1:
            answer = self.run_once(rest)
            if not isinstance(answer, str):
                answers.update(zip((cell.key for cell in rest), answer))
                rest = []
                break
            ends, end = [], len("HloModule cells\n\n".splitlines())
            for i, cell in enumerate(rest):
                end += len((cell.computation(f"cell{i}") + "\n").splitlines())
                ends.append(end)
            found = {}
            for line, message in re.findall(r"\.hlo:(\d+):\d+: error: (.*)", answer):
                index = next((i for i, end in enumerate(ends) if int(line) <= end), None)
                if index is not None:
                    found.setdefault(rest[index].key, f"{self.stem}.hlo:{line}: error: {message}")
            if not found or "exit code 70" in answer or "exit code -" in answer:
                break
            answers.update(found)
            rest = [cell for cell in rest if cell.key not in found]
        answers.update(zip((cell.key for cell in rest), self.run(rest)))
        return [answers[cell.key] for cell in cells]

    def run_once(self, cells):
        stem = self.stem
        with open(stem + ".hlo", "w", encoding="utf-8") as file:
            file.write(cells[0].module() if len(cells) == 1 else cells_module.merged(cells))
        write_inputs(stem + ".in.npz", [a for cell in cells for a in cell.arguments])
        if os.path.exists(stem + ".out.npz"):
            os.remove(stem + ".out.npz")
        try:
            done = subprocess.run([*self.tool, stem + ".hlo", f"--inputs={stem}.in.npz", f"--outputs={stem}.out.npz", "--jobs=1"],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=300)
        except subprocess.TimeoutExpired:
            return "runs for ever"
        if done.returncode:
            return f"exit code {done.returncode}: {done.stdout.strip()}"
        arrays, number, answers = read_npz(stem + ".out.npz"), 0, []
        for cell in cells:
            outputs = []
            for name, dims in cell.outputs():
                form, shape, bits = arrays[f"out{number}"]
                if form != descr(name) or shape != dims:
                    return f"result {number} is {form}{shape}, expected {descr(name)}{dims}"
                outputs.append(masked(name, bits))
                number += 1
            answers.append(outputs)
        return answers

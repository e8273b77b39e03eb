"""plans.py HLO-RUN MODULE...: runs each module with every candidate of its first kernel that has several, on the same
inputs, and compares with the results of the chosen one: equal integers, floats within 1e-5 of the largest."""
import array
import json
import os
import subprocess
import sys
import zipfile

CODES = {b"<f4": "f", b"<c8": "f", b"<i4": "i", b"<i2": "h"}


def load(path):
    """The values of all arrays; those of c64 as pairs."""
    arrays = []
    with zipfile.ZipFile(path) as archive:
        for name in sorted(archive.namelist()):
            data = archive.read(name)
            header = 10 + int.from_bytes(data[8:10], "little")
            values = array.array(next(code for descr, code in CODES.items() if b"'" + descr + b"'" in data[:header]))
            values.frombytes(data[header:])
            arrays.append(values)
    return arrays


def differ(a, b):
    if a.typecode != "f":
        return a != b
    return len(a) != len(b) or max(abs(v - w) for v, w in zip(a, b)) > 1e-5 * max(map(abs, a))


tool, modules = sys.argv[1], sys.argv[2:]
for module in modules:
    outputs = module + ".npz"
    explained = subprocess.run([tool, module, "--explain-plan", "--json"], check=True, capture_output=True, text=True).stdout
    kernel = next(k for k in json.loads(explained)["plans"] if len(k["candidates"]) > 1)
    expected = None
    for candidate in sorted(kernel["candidates"], key=lambda c: c["name"] != kernel["chosen"]):
        assert candidate["modelled_cycles"] > 0, candidate
        request = f"--plan={kernel['kernel']}:{candidate['name']}"
        subprocess.run([tool, module, request, f"--outputs={outputs}", "--guard-pages=after"], check=True, capture_output=True)
        found = load(outputs)
        expected = expected or found
        assert not any(map(differ, expected, found)), (module, candidate["name"])
    assert any(map(any, expected))
    print(f"{os.path.basename(module)}: " + ",".join(sorted(c["name"] for c in kernel["candidates"])))

"""The initial inputs of the libFuzzer programs besides corpus/: texts of the tests, and files made here."""
import glob
import io
import os
import re
import sys
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(os.path.dirname(HERE))
RUNTIME = os.path.join(os.path.dirname(TESTS), "runtime")
sys.path.insert(0, os.path.dirname(HERE))
from frontend import texts  # noqa: E402

# Targets of libhlo_lapack: operands, results and attributes. An array is its type (t: that of the target, r: real, c: complex, i: s32)
# and a letter for each size.
SIZES = {"m": 5, "n": 4, "k": 3, "p": 4, "l": 4, "b": 3, "o": 5, "u": 5, "v": 4}
CALLS = {
    "potrf": ("t:nn", "t:nn i:", "uplo=L"), "getrf": ("t:mn", "t:mn i:l i:", ""), "geqrf": ("t:mn", "t:mn t:l", ""),
    "geqp3": ("t:mn i:n", "t:mn i:n t:l", ""), "orgqr ungqr": ("t:mn t:k", "t:mn", ""), "ormqr unmqr": ("t:op t:k t:mn", "t:mn", "left=1 transpose=1"),
    "trsm": ("t:oo t:mn", "t:mn", "side=L uplo=L trans_x=N diag=N"), "gtsv": ("t:m t:m t:m t:mn", "t:m t:m t:m t:mn i:", ""),
    "gesdd gesvd": ("t:mn", "t:mn r:l t:mu t:vn i:", "mode=A"), "syevd heevd": ("t:nn", "t:nn r:n i:", "mode=V uplo=L"),
    "geev": ("t:nn", "t:n t:n c:nn c:nn i:", "compute_left=V compute_right=V"), "gees": ("t:nn", "t:nn t:nn t:n t:n i: i:", "mode=V sort=N"),
    "gehrd": ("t:nn", "t:nn t:b i:", "low=1 high=4"), "sytrd hetrd": ("t:nn", "t:nn r:n r:b t:b i:", "uplo=L"),
}
OF_COMPLEX = {"geev": ("t:nn", "t:n t:nn t:nn i:", "compute_left=V compute_right=V"), "gees": ("t:nn", "t:nn t:nn t:n i: i:", "mode=V sort=N")}


def strings_of(pattern, suffixes):
    """The matches of a pattern's groups in the tests' files."""
    for path in glob.glob(os.path.join(TESTS, "**", "*"), recursive=True):
        if path.endswith(suffixes):
            with open(path, encoding="utf-8", errors="replace") as file:
                yield from re.findall(pattern, file.read())


def npy(descr, shape, data, fortran=False, version=1):
    header = repr({"descr": descr, "fortran_order": fortran, "shape": shape}).encode()
    header += b" " * (-(len(header) + 9 + 2 * version) % 64) + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + len(header).to_bytes(2 * version, "little") + header + data


def archives():
    """.npz and .npy files of the arrays that fuzz-npz reads: stored and deflated, complete and truncated."""
    arrays = {"x": npy("<f4", (2, 3), bytes(24)), "in1": npy("<i2", (2, 3), bytes(range(12)), True), "z": npy("<c16", (2,), bytes(32), version=2),
              "p": npy("|b1", (), b"\1"), "in4": npy("|i1", (2, 3), bytes(6)), "b": npy("<V2", (2, 3), bytes(12)), "more/x.1": npy(">f4", (2, 3), bytes(24)), "g": npy("<f4", (4, 3), bytes(48))}
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        for names in (["x"], ["g"], ["x", "in1"], list(arrays)):
            data = io.BytesIO()
            with zipfile.ZipFile(data, "w", method) as archive:
                for name in names:
                    archive.writestr(name + ".npy", arrays[name])
            yield data.getvalue()
    with_sizes = io.BytesIO()
    with zipfile.ZipFile(with_sizes, "w") as archive, archive.open("x.npy", "w", force_zip64=True) as member:
        member.write(arrays["x"])
    yield with_sizes.getvalue()
    yield from arrays.values()


def calls():
    """Inputs of call.cpp: correct calls of each target of libhlo_lapack, and of the handlers in call.cpp."""
    with open(os.path.join(RUNTIME, "abi", "hlo", "rt.h"), encoding="utf-8") as file:
        numbers = dict(re.findall(r"HLO_(\w+) = (\d+)", file.read().split("typedef enum hlo_type {")[1].split("}")[0]))
    with open(os.path.join(HERE, "call.cpp"), encoding="utf-8") as file:
        names = re.findall(r'"(\w+)"', re.search(r"names\[\] = \{(.*?)\}", file.read(), re.DOTALL)[1])
    with open(os.path.join(RUNTIME, "lapack", "table.cpp"), encoding="utf-8") as file:
        lapack = [f"lapack_{name}_ffi" for name in re.findall(r"X\((\w+)\)", file.read())]
    others = ["original", "status", "typed", "typed with user", "unified"]
    targets = sorted(lapack + ["tridiagonal_solve_perturbed_ffi"] + others)
    # Of a target, of its norms, and complex.
    types = {"s": ("F32", "F32", "C64"), "d": ("F64", "F64", "C128"), "c": ("C64", "F32", "C64"), "z": ("C128", "F64", "C128")}

    def array(text, letter):
        kind, sizes = text.split(":")
        name = "S32" if kind == "i" else types[letter]["trc".index(kind)]
        return bytes([int(numbers[name]), len(sizes), *(SIZES[size] for size in sizes)])

    def attribute(text):  # a number: pred for a truth value, ui8 for a letter, else i32
        name, value = text.split("=")
        if name in ("left", "transpose"):
            number = b"\0\1"
        else:
            number = b"\5" + value.encode() if value.isalpha() else b"\3" + int(value).to_bytes(4, "little")
        return bytes([names.index(name), 2]) + number

    def call(target, letter, operands, results, attributes):
        operands, results, attributes = operands.split(), results.split(), attributes.split()
        return b"".join([bytes([targets.index(target), 0, len(operands) | len(results) << 4]), *(array(text, letter) for text in operands + results),
                         bytes([len(attributes)]), *map(attribute, attributes), bytes(range(64, 72))])

    for target in lapack:
        letter, routine = target[7], target[8:-4]
        case = next(case for words, case in CALLS.items() if routine in words.split())
        yield call(target, letter, *(OF_COMPLEX.get(routine, case) if letter in "cz" else case))
    for letter in types:
        yield call("tridiagonal_solve_perturbed_ffi", letter, "t:m t:m t:m t:mn", "t:mn", "")
    for target in others:
        yield call(target, "s", "t:mn i:n", "t:k", "size=64 code=3 future=2 id=1")


def seeds(target):
    """Inputs of a target, from the tests or made here."""
    if target == "parse":
        return texts([TESTS])
    if target == "mlir":
        found = []
        for path in glob.glob(os.path.join(TESTS, "**", "*.mlir"), recursive=True):
            # Among StableHLO are texts that MLIR's own parser crashes on; the import refuses them before (Nesting.cpp).
            if os.path.basename(os.path.dirname(path)) == "stablehlo":
                continue
            with open(path, encoding="utf-8", errors="replace") as file:
                found += re.split(r"^// -----.*\n", file.read(), flags=re.MULTILINE)
        return found
    if target == "call":
        return list(calls())
    if target == "ffi":
        return [text.replace('\\"', '"') for text in strings_of(r'backend_config="?((?:[^"\\\n]|\\.)*\})', (".hlo", ".test"))]
    return list(archives())



"""Runs random modules from both texts, HLO and StableHLO: results must have equal bits.

  stablehlo.py [--tool=hlo-run] [--seed=0] [--count=200] [--seconds=0] [--most=40] [--family=NAME] [--jobs=2] [--keep=build/fuzz]

The modules are those of generate.py, which XLA's converter writes as StableHLO; hlo-run runs both on the same inputs. Seeds
count up from --seed until --count modules or --seconds are reached. A module that XLA cannot convert, or not without ops that
StableHLO lacks, is passed over. What fails is kept in --keep as sSEED.hlo, sSEED.mlir, sSEED.npz and printed as a line. The
last line reads 'N passed, N failed'; exit status 1 if any failed or none ran. Without jax it says so and exits with 0.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent


def write(seed, most, family, folder):
    """Writes the module of a seed as sSEED.hlo and sSEED.mlir, and its inputs; the message of XLA's refusal, or None."""
    import generate
    from jaxlib import _hlo, _jax
    text, specs, _, _ = generate.generate(seed, most, family)
    text = generate.for_reference(text)
    try:
        proto = _hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
        converted = _jax.mlir.xla_computation_to_mlir_module(_hlo.XlaComputation(proto))
    except Exception as e:
        return f"{type(e).__name__}: {' '.join(str(e).split())[:200]}"
    if re.search(r'(= |^\s*)"?mhlo\.', converted, re.MULTILINE):
        return "the converter leaves ops of MHLO"
    (folder / f"s{seed}.hlo").write_text(text)
    (folder / f"s{seed}.mlir").write_text(converted)
    generate.save(folder / f"s{seed}.npz", [generate.to_bits(x) for x in generate.make_inputs(specs, seed)])
    return None


def main():
    import generate
    from texts import check
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default="hlo-run")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--most", type=int, default=40, help="operations that a module is made of, at most")
    parser.add_argument("--family", help="operations of a file of families/ alone")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", default="build/fuzz")
    parser.add_argument("--verbose", action="store_true", help="also say what is passed over")
    options = parser.parse_args()
    generate.LARGE = 0
    os.makedirs(options.keep, exist_ok=True)
    end, tally = time.time() + (options.seconds or 1e9), collections.Counter()
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        folder, running = pathlib.Path(name), []

        def finish(most):
            while len(running) > most:
                seed, future = running.pop(0)
                why = future.result()
                tally["failed" if why else "ok"] += 1
                if why:
                    print(f"s{seed}: {why}", flush=True)

        for seed in range(options.seed, options.seed + options.count):
            if time.time() > end:
                break
            refused = write(seed, options.most, options.family, folder)
            if refused:
                tally["passed over"] += 1
                if options.verbose:
                    print(f"s{seed}: passed over: {refused}", flush=True)
                continue
            running.append((seed, pool.submit(check, os.path.abspath(options.tool), folder, options.keep, f"s{seed}")))
            finish(2 * options.jobs)
        finish(0)
    print(", ".join(f"{n} {k}" for k, n in sorted(tally.items())))
    print(f"{tally['ok']} passed, {tally['failed']} failed")
    sys.exit(tally["failed"] > 0 or tally["ok"] == 0)


if __name__ == "__main__":
    sys.path[:0] = [str(HERE), str(HERE.parent / "jax")]
    os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", JAX_PLATFORMS="cpu", JAX_ENABLE_X64="1")
    try:
        import jax  # noqa: F401
        import ml_dtypes  # noqa: F401
    except ImportError:
        print("skipped: jax is not installed, which writes StableHLO")
        sys.exit(0)
    main()

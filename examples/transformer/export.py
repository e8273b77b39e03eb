#!/usr/bin/env python3
"""Writes init.hlo (seed -> state) and step.hlo (state, text -> state, loss) for a mesh of data x model devices.

Shardings are in the texts; nothing is partitioned here. With --check, XLA runs the same functions, on one device and on
the mesh, and prints the losses.
"""
import argparse
import functools
import os
import pathlib
import re

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--mesh", default="2x4", help="devices along data and model (default: 2x4)")
parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."), help="folder of the texts")
parser.add_argument("--small", action="store_true", help="a model of 0.1 M parameters, for tests")
parser.add_argument("--check", metavar="TEXT", help="train on this file with XLA")
parser.add_argument("--steps", type=int, default=100)
options = parser.parse_args()
mesh_shape = tuple(int(n) for n in options.mesh.split("x"))

# The devices are virtual; only their number matters.
os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={mesh_shape[0] * mesh_shape[1]}"

import jax  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P  # noqa: E402

import model  # noqa: E402

config = model.Config(context=32, layers=2, width=64, heads=4, batch=4) if options.small else model.Config()


def functions(mesh):
    """init and train, jitted for a mesh."""
    def named(specs):
        return jax.tree.map(lambda s: NamedSharding(mesh, s), specs, is_leaf=lambda s: isinstance(s, P))
    state, text, whole = named(model.shardings(config)), named(P("data", None)), named(P())
    init = jax.jit(functools.partial(model.init, config), in_shardings=whole, out_shardings=state)
    train = jax.jit(functools.partial(model.train, config), in_shardings=(state, text), out_shardings=(state, whole),
                    donate_argnums=0)
    return init, train


def hlo(lowered):
    """The text with shardings in Shardy's form alone, which says the sizes of the mesh once, in the first line."""
    return re.sub(r", sharding=\{(?:[^{}]|\{[^{}]*\})*\}", "", lowered.as_text(dialect="hlo"))


def mesh_of(shape):
    return Mesh(np.reshape(jax.devices()[:shape[0] * shape[1]], shape), ("data", "model"))


mesh = mesh_of(mesh_shape)
with jax.set_mesh(mesh):
    init, train = functions(mesh)
    seed = jax.ShapeDtypeStruct((), np.uint32)
    text = jax.ShapeDtypeStruct((config.batch, config.context + 1), np.uint8)
    state = jax.eval_shape(init, seed)
    for name, lowered in ("init", init.lower(seed)), ("step", train.lower(state, text)):
        (options.out / f"{name}.hlo").write_text(hlo(lowered))
    print(f"{sum(p.size for p in jax.tree.leaves(state['params'])) / 1e6:.2f} M parameters, mesh {options.mesh}")

if options.check:
    data = np.fromfile(options.check, np.uint8)
    curves = []
    for shape in (1, 1), mesh_shape:
        mesh = mesh_of(shape)
        with jax.set_mesh(mesh):
            init, train = functions(mesh)
            state, losses = init(np.uint32(1)), []
            for step in range(options.steps):
                state, value = train(state, model.batch(config, data, step))
                losses.append(float(value))
            curves.append(losses)
    for step, (one, many) in enumerate(zip(*curves)):
        print(f"{step:4} {one:.6f} {many:.6f}")
    print(f"largest relative difference {max(abs(a - b) / a for a, b in zip(*curves)):.1e}")

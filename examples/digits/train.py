#!/usr/bin/env python3
"""Trains a small convolutional network on scikit-learn's digits and exports it as HLO text.

  train.py            writes digits.hlo and digits_test.bin beside this script

Needs the PyPI packages jax, numpy and scikit-learn; both outputs are committed, so that only a change of
the network needs this script. The weights become constants of the module: the program maps one image
f32[1,8,8,1] to logits f32[1,10].

digits_test.bin, for main.c: for each test image 64 bytes of pixels (0..16), 1 byte with the true
digit, 1 byte with the digit that JAX's own run of the network gives.
"""
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

HERE = pathlib.Path(__file__).parent
DIMS = ("NHWC", "HWIO", "NHWC")


def init(key):
    def he(key, shape, fan_in):
        return jax.random.normal(key, shape, jnp.float32) * np.sqrt(2.0 / fan_in)

    k = jax.random.split(key, 3)
    return {
        "conv1": he(k[0], (3, 3, 1, 16), 9), "bias1": jnp.zeros(16),
        "conv2": he(k[1], (3, 3, 16, 32), 144), "bias2": jnp.zeros(32),
        "dense": he(k[2], (512, 10), 512), "bias3": jnp.zeros(10),
    }


def network(p, images):
    """images: [n, 8, 8, 1] with pixels in 0..16; gives logits [n, 10]."""
    x = images * (1.0 / 16.0)
    for i in "12":
        x = jax.lax.conv_general_dilated(x, p["conv" + i], (1, 1), "SAME", dimension_numbers=DIMS)
        x = jax.nn.relu(x + p["bias" + i])
    x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return x.reshape(x.shape[0], -1) @ p["dense"] + p["bias3"]


def loss(p, images, labels):
    logits = jax.nn.log_softmax(network(p, images))
    return -jnp.mean(jnp.take_along_axis(logits, labels[:, None], axis=1))


@jax.jit
def step(p, m, images, labels):
    gradient = jax.grad(loss)(p, images, labels)
    m = jax.tree.map(lambda m, g: 0.9 * m + g, m, gradient)
    return jax.tree.map(lambda p, m: p - 0.05 * m, p, m), m


def main():
    images, labels = load_digits(return_X_y=True)
    images = images.astype(np.float32).reshape(-1, 8, 8, 1)
    x, x_test, y, y_test = train_test_split(images, labels, test_size=360, random_state=0, stratify=labels)
    params = init(jax.random.key(0))
    momentum = jax.tree.map(jnp.zeros_like, params)
    rng = np.random.default_rng(0)
    for _ in range(30):
        for batch in np.array_split(rng.permutation(len(x)), len(x) // 64):
            params, momentum = step(params, momentum, x[batch], y[batch])
    params = jax.tree.map(lambda w: np.asarray(w).round(5), params)
    classify = jax.jit(lambda image: network(params, image))
    predicted = np.array([int(jnp.argmax(classify(image[None]))) for image in x_test])
    print(f"{len(x_test)} test images, accuracy {np.mean(predicted == y_test):.4f}")

    text = classify.lower(jax.ShapeDtypeStruct((1, 8, 8, 1), np.float32)).as_text(dialect="hlo")
    (HERE / "digits.hlo").write_text(text.replace("jit__lambda", "digits"))
    with open(HERE / "digits_test.bin", "wb") as f:
        for image, label, digit in zip(x_test, y_test, predicted):
            f.write(image.astype(np.uint8).tobytes() + bytes([label, digit]))


if __name__ == "__main__":
    main()

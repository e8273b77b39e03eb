#!/usr/bin/env python3
"""What the programs of examples/languages and examples/cxx print of their training, computed in double precision."""
x = [(i % 3, i % 2) for i in range(8)]
y = [3 * a - 2 * b for a, b in x]
w = [0.0, 0.0]
for step in range(1, 101):
    errors = [a * w[0] + b * w[1] - t for (a, b), t in zip(x, y)]
    loss = sum(e * e for e in errors) / 8
    w = [w[k] - sum(p[k] * e for p, e in zip(x, errors)) / 16 for k in range(2)]
    if step % 50 == 0:
        print("step %d: loss %.6f, w = %.4f %.4f" % (step, loss, *w))

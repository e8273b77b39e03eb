"""What the programs are written in: operations that each engine's side implements.

A program is a function of an `Ops`. Images are [n, c, h, w] to it; a side keeps them in the order that suits its engine.
The first call of a program draws the values of inputs and weights, from a seed and the position in the program, so that
all sides have the same numbers; later calls use what the first one kept.
"""
import ml_dtypes
import numpy as np


def round_to(array, kind):
    """The array of f32, each element rounded to the type."""
    return array.astype(ml_dtypes.bfloat16).astype(np.float32) if kind == "bf16" else array


class Ops:
    """kind: the type of activations and weights, f32 or bf16. batch: of images."""

    def __init__(self, program):
        self.kind, self.batch, self.layout = program.kind, program.batch, program.layout
        self.first, self.begun, self.drawn, self.kept, self.next = True, False, 0, [], 0

    # ---- values ----

    def begin(self):
        """Starts another call of the program."""
        self.first, self.begun, self.next = not self.begun, True, 0

    def keep(self, make):
        """What `make` returned in the first call."""
        if self.first:
            self.kept.append(make())
        self.next += 1
        return self.kept[self.next - 1]

    def draw(self, shape, std=1.0, mean=0.0, kind=None):
        """Normal floats; None after the first call."""
        if not self.first:
            return None
        self.drawn += 1
        return round_to(np.random.default_rng(self.drawn).standard_normal(shape, np.float32) * np.float32(std) + np.float32(mean), kind or self.kind)

    def draw_integers(self, shape, low, high, dtype):
        """Integers in [low, high)."""
        if not self.first:
            return None
        self.drawn += 1
        return np.random.default_rng(self.drawn).integers(low, high, shape, dtype=np.int32).astype(dtype)

    # ---- what is composed of a side's operations, and what has weights ----

    def image(self, c, h, w):
        return self.image_input(self.draw((self.batch, c, h, w)))

    def floats(self, *shape, std=1.0):
        return self.input(self.draw(shape, std))

    def table(self, *shape, std=0.02):
        """A weight used as it is: a position embedding, a class token."""
        return self.weight(self.draw(shape, std))

    def dense(self, x, n, bias=True, act=None, gain=1.0):
        k = self.shape(x)[-1]
        w = self.draw((k, n), gain * k ** -0.5)
        return self.linear(x, w, self.draw((n,), 0.1) if bias else None, n, act, bias)

    def norm(self, x):
        n = self.shape(x)[-1]
        return self.layer_norm(x, self.draw((n,), 0.1, 1.0), self.draw((n,), 0.1))

    def rms(self, x):
        return self.rms_norm(x, self.draw((self.shape(x)[-1],), 0.1, 1.0))

    def conv(self, x, out, size, stride=1, pad=None, groups=1, dilation=1):
        """A convolution alone; its padding is size / 2 unless given."""
        window = Window(size, stride, pad, groups, dilation)
        return self.convolve(x, self.draw_kernel(x, out, window), out, window)

    def conv_bias(self, x, out, size, stride, pad):
        window = Window(size, stride, pad, 1, 1)
        w = self.draw_kernel(x, out, window)
        return self.convolve_bias(x, w, self.draw((out,), 0.1), out, window)

    def conv_bn(self, x, out, size, stride=1, groups=1, act="relu", residual=None, gain=1.0):
        """act(batch norm(convolution) + residual)."""
        window = Window(size, stride, None, groups, 1)
        w = self.draw_kernel(x, out, window)
        norm = [self.draw((out,), *form, kind="f32") for form in ((0.1 * gain, gain), (0.1, 0.0), (0.1, 0.0), (0.1, 1.0))]
        if self.first:
            norm[3] = np.abs(norm[3])
        return self.convolve_norm(x, w, norm, out, window, act, residual)

    def draw_kernel(self, x, out, window):
        size, inner = window.size, self.channels(x) // window.groups
        return self.draw((out, inner, size, size), (2.0 / (inner * size * size)) ** 0.5)


class Window:
    def __init__(self, size, stride, pad, groups, dilation):
        self.size, self.stride, self.groups, self.dilation = size, stride, groups, dilation
        self.pad = (size - 1) * dilation // 2 if pad is None else pad

    def extent(self, n):
        """The extent of the result, of a dimension of extent n."""
        return (n + 2 * self.pad - (self.size - 1) * self.dilation - 1) // self.stride + 1


BN_EPSILON, LN_EPSILON, RMS_EPSILON = 1e-5, 1e-5, 1e-6


def fold(w, norm):
    """(kernel, bias) of a convolution and the batch norm behind it."""
    gamma, beta, mean, variance = norm
    scale = gamma / np.sqrt(variance + np.float32(BN_EPSILON))
    return w * scale[:, None, None, None], beta - mean * scale

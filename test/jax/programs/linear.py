"""Products, convolutions, factorizations, transforms."""
import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl
from jax import lax

from programs import Program, each

A, B, S, P = "f32[3,4]", "f32[4,5]", "f32[4,4]", "f32[4,4]:spd"


def convolution(strides=(1, 1), padding="SAME", **more):
    return lambda x, w: lax.conv_general_dilated(x, w, strides, padding, dimension_numbers=("NHWC", "HWIO", "NHWC"), **more)


def einsum(text):
    return lambda *arrays: jnp.einsum(text, *arrays)


X, W = "f32[2,8,8,4]", "f32[3,3,4,6]"

PROGRAMS = [
    Program("matmul", jnp.matmul, (A, B)),
    Program("matmul_batch", jnp.matmul, ("f32[2,3,4]", "f32[2,4,5]")),
    Program("matmul_broadcast", jnp.matmul, ("f32[2,3,4]", B)),
    Program("matmul_vector", jnp.matmul, (A, "f32[4]")),
    Program("dot", jnp.dot, (A, B)),
    Program("vdot", jnp.vdot, ("c64[5]", "c64[5]")),
    Program("tensordot", lambda x, y: jnp.tensordot(x, y, 2), ("f32[2,3,4]", "f32[3,4,5]")),
    Program("einsum_trace", einsum("ii"), (S,)),
    Program("einsum_diagonal", einsum("ii->i"), (S,)),
    Program("einsum_batch", einsum("bij,bkj->bik"), ("f32[2,3,4]", "f32[2,5,4]")),
    Program("einsum_three", einsum("ij,jk,kl->il"), (A, B, "f32[5,2]")),
    Program("einsum_heads", einsum("bqhd,bkhd->bhqk"), ("f32[2,5,3,4]", "f32[2,6,3,4]")),
    Program("einsum_outer", einsum("i,j->ij"), ("f32[3]", "f32[4]")),
    Program("precision", lambda x, y: jnp.matmul(x, y, precision=lax.Precision.HIGHEST), (A, B)),
    Program("preferred_type", lambda x, y: lax.dot(x, y, preferred_element_type=jnp.float32), ("bf16[3,4]", "bf16[4,5]")),
    Program("integers", lambda x, y: lax.dot(x, y, preferred_element_type=jnp.int32), ("s8[3,4]", "s8[4,5]")),
    Program("matmul_bf16", jnp.matmul, ("bf16[3,4]", "bf16[4,5]")),
    Program("matmul_f16", jnp.matmul, ("f16[3,4]", "f16[4,5]")),
    Program("matmul_f64", jnp.matmul, ("f64[3,4]", "f64[4,5]")),
    Program("matmul_complex", jnp.matmul, ("c64[3,4]", "c64[4,5]")),
    Program("dot_general", lambda x, y: lax.dot_general(x, y, (((2,), (1,)), ((0,), (2,)))), ("f32[2,3,4]", "f32[5,4,2]")),
    Program("ragged_dot", lambda x, y: lax.ragged_dot(x, y, jnp.array([2, 0, 3], jnp.int32)), ("f32[5,4]", "f32[3,4,2]")),
    Program("convolution", convolution(), (X, W)),
    Program("convolution_strided", convolution((2, 2), "VALID"), (X, W)),
    Program("convolution_padded", convolution((1, 2), ((2, 1), (0, 3))), (X, W)),
    Program("convolution_dilated", convolution(rhs_dilation=(2, 2)), (X, W)),
    Program("convolution_transposed", convolution(lhs_dilation=(2, 2), padding=((1, 2), (1, 2))), (X, W)),
    Program("convolution_groups", convolution(feature_group_count=2), (X, "f32[3,3,2,6]")),
    Program("convolution_depthwise", convolution(feature_group_count=4), (X, "f32[3,3,1,8]")),
    Program("convolution_batch_groups", convolution(batch_group_count=2), (X, W)),
    Program("convolution_nchw", lambda x, w: lax.conv(x, w, (1, 1), "SAME"), ("f32[2,4,8,8]", "f32[6,4,3,3]")),
    Program("convolution_1d", lambda x, w: lax.conv_general_dilated(x, w, (2,), "SAME"), ("f32[2,4,9]", "f32[6,4,3]")),
    Program("convolution_3d", lambda x, w: lax.conv_general_dilated(x, w, (1, 1, 1), "VALID"), ("f32[1,2,4,4,4]", "f32[3,2,2,2,2]")),
    Program("convolution_bf16", convolution(), ("bf16[2,8,8,4]", "bf16[3,3,4,6]")),
    Program("convolution_transpose", lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME"), (X, W)),
    Program("patches", lambda x: lax.conv_general_dilated_patches(x, (2, 2), (1, 1), "VALID"), ("f32[1,3,5,5]",)),
    Program("convolution_gradients", jax.grad(lambda x, w: (convolution((2, 2))(x, w) ** 2).sum(), (0, 1)), (X, W)),
    *each(jnp.linalg, "cholesky inv det slogdet", P),
    *each(jnp.linalg, "norm", A),
    Program("cholesky_upper", lambda x: jsl.cholesky(x), (P,)),
    Program("solve", jnp.linalg.solve, (P, "f32[4,2]")),
    Program("solve_triangular", lambda x, y: jsl.solve_triangular(x, y, lower=True), (P, "f32[4,2]")),
    Program("solve_triangular_transposed", lambda x, y: jsl.solve_triangular(x, y, trans=1, unit_diagonal=True), (P, "f32[4,2]")),
    Program("cho_solve", lambda x, y: jsl.cho_solve(jsl.cho_factor(x), y), (P, "f32[4,2]")),
    Program("qr", jnp.linalg.qr, (S,)),
    Program("eigh", jnp.linalg.eigh, (P,)),
    Program("svd", lambda x: jnp.linalg.svd(x, compute_uv=False), (A,)),
    Program("lu", jsl.lu, (S,)),
    Program("pinv", jnp.linalg.pinv, (A,)),
    Program("matrix_power", lambda x: jnp.linalg.matrix_power(x, 5), (S,)),
    Program("expm", jsl.expm, (S,)),
    Program("multi_dot", lambda x, y, z: jnp.linalg.multi_dot([x, y, z]), (A, B, "f32[5,2]")),
    Program("norm_rows", lambda x: jnp.linalg.norm(x, ord=1, axis=1), (A,)),
    Program("cross", jnp.cross, ("f32[4,3]", "f32[4,3]")),
    *each(jnp.fft, "fft ifft", "c64[3,8]"),
    *each(jnp.fft, "rfft fftshift ifftshift", "f32[3,8]"),
    Program("irfft", jnp.fft.irfft, ("c64[3,5]",)),
    Program("fft2", jnp.fft.fft2, ("c64[4,8]",)),
    Program("rfftn", jnp.fft.rfftn, ("f32[2,4,8]",)),
    Program("fft_prime", jnp.fft.fft, ("c64[7]",)),
    Program("low_rank", lambda x, y: (x @ y) @ (x @ y).T, (A, B)),
]

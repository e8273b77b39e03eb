"""Modules of one operation each, for ops.py: sizes that no number of partitions divides, init values that count once.

A case: the opcode, the entry's instructions (the last is the root), computations, and the tolerance: 0 compares bit by bit,
others are relative to an element and to the largest one.
"""
CASES = []


def case(opcode, text, computations="", tolerance=1e-4):
    lines = [line.strip() for line in text.strip().splitlines()]
    lines[-1] = "ROOT " + lines[-1]
    module = "HloModule m\n" + computations + "ENTRY main {\n  " + "\n  ".join(lines) + "\n}\n"
    CASES.append((opcode, module, tolerance))


def binary(element, operation):
    """f: the computation of a binary operation."""
    scalar = element + "[]"
    return f"f {{\n  a = {scalar} parameter(0)\n  b = {scalar} parameter(1)\n  ROOT r = {scalar} {operation}(a, b)\n}}\n"


def pairs(body):
    """f: a computation of an f32 and an s32: accumulators v, i and elements w, j; `body` gives value and index."""
    return f"""f {{
  v = f32[] parameter(0)
  i = s32[] parameter(1)
  w = f32[] parameter(2)
  j = s32[] parameter(3)
  {body}
  ROOT r = (f32[], s32[]) tuple(value, index)
}}
"""


def dots():
    for element, tolerance in (("f32", 1e-4), ("s32", 0), ("s8", 0), ("c64", 1e-4), ("pred", 0)):
        case("dot", f"""x = {element}[6,7] parameter(0)
                        y = {element}[7,5] parameter(1)
                        r = {element}[6,5] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}""",
             tolerance=tolerance)
    case("dot", """x = f32[3,6,7,2] parameter(0)
                   y = f32[7,3,2,5] parameter(1)
                   r = f32[3,6,5] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={1}, lhs_contracting_dims={2,3}, rhs_contracting_dims={0,2}""")
    case("dot", """x = f32[7] parameter(0)
                   y = f32[7] parameter(1)
                   r = f32[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}""")
    # Partial sums are added up in f32: the result is that of one rounding, or its neighbour.
    case("dot", """x = f32[6,9] parameter(0)
                   y = f32[9,3] parameter(1)
                   x8 = f8e4m3fn[6,9] convert(x)
                   y8 = f8e4m3fn[9,3] convert(y)
                   d = f8e4m3fn[6,3] dot(x8, y8), lhs_contracting_dims={1}, rhs_contracting_dims={0}
                   r = f32[6,3] convert(d)""", tolerance=0.08)
    for scales, other in (("6,2", "8,4"), ("3,4", "2,2"), ("1,8", "1,1"), ("6,8", "4,4"), ("6,8", "")):
        case("scaled-dot", f"""x = f32[6,8] parameter(0)
                               y = f32[8,4] parameter(1)
                               s = f32[{scales}] parameter(2)
                               t = f32[{other}] parameter(3)
                               r = f32[6,4] scaled-dot(x, y, s, t), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}""")


def ragged_dots():
    def ragged(x, y, sizes, result, attributes):
        case("ragged-dot", f"""x = f32[{x}] parameter(0)
                               y = f32[{y}] parameter(1)
                               g = {sizes}
                               r = f32[{result}] ragged-dot(x, y, g), {attributes}""")

    free = "lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}"
    ragged("11,6", "3,6,5", "s32[3] constant({3, 0, 6})", "11,5", free)
    ragged("11,6", "5,6,5", "s64[5] constant({3, 1, 2, 4, 9})", "11,5", free)
    ragged("2,11,6", "4,2,6,5", "u8[2,4] constant({{3, 0, 6, 1}, {1, 2, 3, 4}})", "2,11,5",
           "lhs_batch_dims={0}, rhs_batch_dims={1}, lhs_contracting_dims={2}, rhs_contracting_dims={2}, lhs_ragged_dims={1}, rhs_group_dims={0}")
    ragged("3,11,6", "4,6,5", "s32[3,4] constant({{3, 0, 6, 1}, {1, 2, 3, 4}, {0, 0, 0, 11}})", "3,11,5",
           "lhs_contracting_dims={2}, rhs_contracting_dims={1}, lhs_ragged_dims={1}, rhs_group_dims={0}")
    ragged("6,11", "11,5", "s32[4] constant({3, 0, 4, 2})", "4,6,5", "lhs_contracting_dims={1}, rhs_contracting_dims={0}, lhs_ragged_dims={1}")
    ragged("6,2,11", "2,11,5", "s32[2,4] constant({{3, 0, 4, 2}, {0, 1, 9, 1}})", "4,6,5",
           "lhs_contracting_dims={1,2}, rhs_contracting_dims={0,1}, lhs_ragged_dims={2}")
    ragged("3,5,6,11", "3,5,11,5", "s32[3,2] constant({{3, 2}, {1, 1}, {2, 3}})", "3,5,6,5",
           "lhs_batch_dims={0,1}, rhs_batch_dims={0,1}, lhs_contracting_dims={3}, rhs_contracting_dims={2}, lhs_ragged_dims={1}")


def reductions():
    for element, operation, inits in (("f32", "add", ("0", "2.5")), ("f32", "multiply", ("1", "3")), ("f32", "maximum", ("-inf", "0.3")),
                                      ("f32", "minimum", ("0",)), ("s32", "add", ("7",)), ("s32", "and", ("-1",)), ("s32", "xor", ("5",)),
                                      ("s32", "multiply", ("3",)), ("u8", "minimum", ("200",)), ("s8", "maximum", ("-128",)),
                                      ("pred", "or", ("false",)), ("pred", "and", ("true", "false")), ("f32", "subtract", ("0",)),
                                      ("s32", "subtract", ("4",))):
        for init in inits:
            case("reduce", f"""x = {element}[5,6,7] parameter(0)
                               i = {element}[] constant({init})
                               r = {element}[6] reduce(x, i), dimensions={{0,2}}, to_apply=f""",
                 binary(element, operation), 1e-4 if element == "f32" else 0)
    for element, operation, tolerance in (("bf16", "add", 3e-2), ("f16", "maximum", 1e-3), ("f8e5m2", "add", 0.3)):
        case("reduce", f"""x = f32[9,6] parameter(0)
                           y = {element}[9,6] convert(x)
                           i = {element}[] constant(1)
                           s = {element}[6] reduce(y, i), dimensions={{0}}, to_apply=f
                           r = f32[6] convert(s)""", binary(element, operation), tolerance)
    for element, operation in (("f32", "add"), ("s32", "maximum")):
        case("reduce", f"""x = {element}[5,6,7] parameter(0)
                           i = {element}[] parameter(1)
                           r = {element}[] reduce(x, i), dimensions={{0,1,2}}, to_apply=f""", binary(element, operation))
    hypot = """f {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  aa = f32[] multiply(a, a)
  bb = f32[] multiply(b, b)
  s = f32[] add(aa, bb)
  ROOT r = f32[] sqrt(s)
}
"""
    for init in ("constant(0)", "constant(2)", "parameter(1)"):
        case("reduce", f"""x = f32[7,6,5] parameter(0)
                           i = f32[] {init}
                           r = f32[6] reduce(x, i), dimensions={{0,2}}, to_apply=f""", hypot)
    # The first element that is not 0, the last that is greater than 2.
    for condition in ("compare(a, k), direction=NE", "compare(k, b), direction=GE"):
        first = f"""f {{
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  k = s32[] constant({0 if "NE" in condition else 2})
  p = pred[] {condition}
  ROOT r = s32[] select(p, a, b)
}}
"""
        case("reduce", """x = s32[13,3] parameter(0)
                          i = s32[] constant(0)
                          r = s32[3] reduce(x, i), dimensions={0}, to_apply=f""", first, 0)


def variadic_reductions():
    first = pairs("""gt = pred[] compare(v, w), direction=GT
  ne = pred[] compare(v, v), direction=NE
  p = pred[] or(gt, ne)
  value = f32[] select(p, v, w)
  eq = pred[] compare(v, w), direction=EQ
  lt = pred[] compare(i, j), direction=LT
  tie = pred[] and(eq, lt)
  q = pred[] or(p, tie)
  index = s32[] select(q, i, j)""")
    last = pairs("""gt = pred[] compare(v, w), direction=GT
  value = f32[] select(gt, v, w)
  index = s32[] select(gt, i, j)""")
    separate = pairs("value = f32[] add(v, w)\n  index = s32[] maximum(i, j)")
    for computation, low in ((first, "constant(-inf)"), (last, "constant(-inf)"), (last, "parameter(1)"), (separate, "constant(1.5)")):
        for rows in (7, 8):
            case("reduce", f"""x = f32[{rows},5,6] parameter(0)
                               y = f32[{rows},5,6] floor(x)
                               k = s32[{rows},5,6] iota(), iota_dimension=0
                               l = f32[] {low}
                               m = s32[] constant(-3)
                               r = (f32[5], s32[5]) reduce(y, k, l, m), dimensions={{0,2}}, to_apply=f""", computation)


def factorizations():
    case("fft", """x = c64[5,6,8] parameter(0)
                   r = c64[5,6,8] fft(x), fft_type=FFT, fft_length={8}""")
    case("fft", """x = f32[5,6,8] parameter(0)
                   r = c64[5,6,5] fft(x), fft_type=RFFT, fft_length={6,8}""")
    case("cholesky", """x = f32[5,3,3] parameter(0)
                        t = f32[5,3,3] transpose(x), dimensions={0,2,1}
                        s = f32[5,3,3] dot(x, t), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
                        r = f32[5,3,3] cholesky(s), lower=true""", tolerance=5e-2)
    three = """three = f32[] constant(3)
               d = f32[4,{n},{n}] broadcast(three), dimensions={{}}
               p = f32[4,{n},{n}] abs(x)
               a = f32[4,{n},{n}] add(p, d)
               b = f32[4,3,5] parameter(1)
               """
    for left, n in (("true", 3), ("false", 5)):
        case("triangular-solve", f"x = f32[4,{n},{n}] parameter(0)\n" + three.format(n=n) +
             f"r = f32[4,3,5] triangular-solve(a, b), left_side={left}, lower=true, transpose_a=NO_TRANSPOSE", tolerance=1e-2)
    case("custom-call", "x = f32[4,3,3] parameter(0)\n" + three.format(n=3) +
         'r = f32[4,3,5]{1,2,0} custom-call(a, b), custom_call_target="lapack_strsm_ffi", '
         "operand_layout_constraints={f32[4,3,3]{1,2,0}, f32[4,3,5]{1,2,0}}, api_version=API_VERSION_TYPED_FFI, "
         "backend_config={diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}", tolerance=1e-2)
    case("custom-call", """x = f32[5,3,3] parameter(0)
         r = (f32[5,3,3]{1,2,0}, s32[5,3], s32[5]) custom-call(x), custom_call_target="lapack_sgetrf_ffi", """
         "operand_layout_constraints={f32[5,3,3]{1,2,0}}, api_version=API_VERSION_TYPED_FFI", tolerance=1e-2)


def batch_norms():
    for feature, n in enumerate((5, 6, 7)):
        attributes = f"epsilon=0.01, feature_index={feature}"
        results = f"(f32[5,6,7], f32[{n}], f32[{n}])"
        case("batch-norm-training", f"""x = f32[5,6,7] parameter(0)
                                        s = f32[{n}] parameter(1)
                                        o = f32[{n}] parameter(2)
                                        r = {results} batch-norm-training(x, s, o), {attributes}""", tolerance=1e-3)
        inputs = f"""x = f32[5,6,7] parameter(0)
                     s = f32[{n}] parameter(1)
                     m = f32[{n}] parameter(2)
                     p = f32[{n}] parameter(3)
                     v = f32[{n}] abs(p)
                     """
        case("batch-norm-grad", inputs + f"""y = f32[5,6,7] parameter(4)
             r = {results} batch-norm-grad(x, s, m, v, y), {attributes}""", tolerance=1e-2)
        case("batch-norm-inference", inputs + f"""o = f32[{n}] parameter(4)
             r = f32[5,6,7] batch-norm-inference(x, s, o, m, v), {attributes}""", tolerance=1e-3)


def random_numbers():
    for algorithm in ("rng_three_fry", "rng_philox", "rng_default"):
        for element in ("u32", "u64", "u8", "s16"):
            for shape in ("64", "8,6", "6,5", "7,4", "9,5,3", "5,9", "12", "16,3", "1,8", "2,2,8"):
                # The counter's low word overflows.
                words = 2 if algorithm == "rng_three_fry" or shape == "64" else 3
                state = ("18446744073709551615", "18446744073709551612", "5")[:words]
                case("rng-bit-generator", f"""s = u64[{words}] constant({{{", ".join(state)}}})
                                              r = (u64[{words}], {element}[{shape}]) rng-bit-generator(s), algorithm={algorithm}""",
                     tolerance=0)
    case("rng", """a = f32[] constant(1)
                   b = f32[] constant(4)
                   r = f32[7,6] rng(a, b), distribution=rng_uniform""", tolerance=0)


def others():
    case("map", """x = f32[5,7] parameter(0)
                   y = f32[5,7] parameter(1)
                   r = f32[5,7] map(x, y), dimensions={0,1}, to_apply=f""", binary("f32", "atan2"))


for family in (dots, ragged_dots, reductions, variadic_reductions, factorizations, batch_norms, random_numbers, others):
    family()

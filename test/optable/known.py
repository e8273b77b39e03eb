"""Where XLA:CPU is not the reference, by the cells' names."""

# Pattern -> why XLA:CPU's result is not taken.
XLA_IS_WRONG = {
    r"^sort.* / [su]2\b": "does not sort 2-bit integers",
    r"^popcnt / s[24]$": "counts the bits of the sign extension",
    r"^power / [su]\d+$": "loses high bits of large exponents, and takes large unsigned ones for negative",
    r"^(maximum|minimum|clamp|(reduce|reduce-window|scatter) (maximum|minimum)) / c": "ignores imaginary parts",
    r"^dynamic-reshape": "loses an element when the result is sliced",
    r"subnormals": "takes subnormals for zeros",
    r"^stochastic-convert .* / f(8e4m3|8e3m4|4)": "overflows in the narrow type",
    r"^(convert|dot|convolution) to [su]\d+ / f4": "takes the largest number for infinity",
    r"^(dot|convolution) to u\d+ / c": "gives other numbers than its convert for negative real parts",
    r"^dot to f16 / f8e8m0fnu|^convolution to f16 / f8e8m0fnu": "rounds sums to powers of two",
}

# Cells of narrow integers that do not follow from wider ones.
NOT_WIDER = {
    r"^(shift|count-leading|popcnt|bitcast-convert|rng|stochastic)": "depend on the width",
    r"^convert to [su]\d / (f|bf|c\d)": "saturate at the width",
}

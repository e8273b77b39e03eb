"""Bounds for the results of a module: each value in f64, and the largest error of a correct result."""

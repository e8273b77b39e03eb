"""What a module may compute: each value in f64, and how far a correct result may be from it."""

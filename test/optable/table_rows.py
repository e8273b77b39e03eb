"""All cells of the table, in the order of its families."""
import rows_control
import rows_elementwise
import rows_index
import rows_linalg
import rows_reduce
import rows_shape

FAMILIES = {
    "elementwise": rows_elementwise, "shape": rows_shape, "index": rows_index, "reduce": rows_reduce,
    "linalg": rows_linalg, "control": rows_control,
}


def cells(family):
    return list(FAMILIES[family].rows())

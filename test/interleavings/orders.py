"""The memory orders that a C source gives to its atomic operations."""
import re

CALL = re.compile(r"\batomic_(?!init)\w+\s*\(|__atomic_\w+\s*\(")


def closing(text, at):
    """The index behind the parenthesis that closes the one before `at`."""
    depth = 1
    while depth:
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return at


class Orders:
    """orders(function, field, number) are those of the number-th operation on a field in a function: one, or for a
    compare-exchange two. `weakened` replaces single orders: {(function, field, number, which): order}."""

    def __init__(self, path, weakened=None):
        self.weakened, self.found, self.used = weakened or {}, {}, {}
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
        for match in re.finditer(r"^[\w *]*?\b(\w+)\([^;{}]*\)\s*\{\n(.*?)^\}", text, re.M | re.S):
            function, body = match[1], match[2]
            for call in CALL.finditer(body):
                arguments = body[call.end():closing(body, call.end()) - 1]
                field = re.findall(r"\w+", re.split(r",", arguments)[0])[-1]
                orders = re.findall(r"memory_order_(\w+)", arguments)
                if not orders:
                    orders = ["seq_cst"] * (2 if "compare_exchange" in call[0] else 1)
                self.found.setdefault((function, field), []).append(orders)

    def __call__(self, function, field, number=0):
        orders = self.found[function, field][number]
        self.used[function, field, number] = orders
        orders = [self.weakened.get((function, field, number, i), order) for i, order in enumerate(orders)]
        return orders if len(orders) > 1 else orders[0]

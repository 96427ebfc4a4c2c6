"""Hash tables against Python's dictionaries."""

import numpy as np

from op_cases.drawing import Example, case
from tidemark import _tidemark


def filled(d, key, value):
    """A table, the dictionary that it holds, and new keys for it."""
    table = _tidemark.new_table(key, value, ())
    n = d.int(0, 9) if not d.large else 5001
    keys = d.values(n, key, low=-50, high=50)
    values = d.values(n, value, odd=False)
    _tidemark.call("table_insert", (keys, values), {"table": table.number, "overwrite": True})
    held = dict(zip(keys.tolist(), values.tolist(), strict=True))
    return table, held, d.values(d.shape(1, 2), key, low=-60, high=60)


@case("table_find", "table_insert", "table_remove", "table_size", "table_export")
def tables(d):
    key = d.pick("int32", "int64", "string") if d.dtype == "none" else d.dtype
    value = d.pick(
        "float32",
        "float64",
        "float16",
        "bfloat16",
        "int8",
        "uint16",
        "int32",
        "int64",
        "bool",
        "complex64",
        "string",
    )
    table, held, keys = filled(d, key, value)
    attrs, wanted = {"table": table.number}, keys.reshape(-1).tolist()
    default = d.values((), value, odd=False)
    if d.op == "table_find":

        def found():
            flat = [held.get(k, default.item()) for k in wanted]
            return np.array(flat, default.dtype).reshape(keys.shape)

        return Example([keys, default], attrs, found, keep=table)
    if d.op == "table_insert":
        keys = keys.reshape(-1)
        values = d.values(keys.shape, value, odd=False)
        size = np.array(len({*held, *wanted}), np.int64)
        return Example([keys, values], attrs, lambda: size, keep=table)
    if d.op == "table_remove":
        size = np.array(len(set(held) - set(wanted)), np.int64)
        return Example([keys], attrs, lambda: size, keep=table)
    if d.op == "table_size":
        return Example([], attrs, lambda: np.array(len(held), np.int64), keep=table)

    def check(outputs):
        got = dict(zip(outputs[0].tolist(), outputs[1].tolist(), strict=True))
        assert got == held

    return Example([], attrs, check=check, keep=table)

"""Diagonals and bands of matrices."""

import numpy as np

from op_cases.drawing import Example, case


def matrices(d):
    if d.large:
        return (9, 131, 127)
    return (*d.shape(high=2), d.dim(), d.dim())


def length(rows, columns, k):
    return max(0, min(rows + min(k, 0), columns - max(k, 0)))


@case("band_part")
def band_part(d):
    shape = matrices(d)
    x = d.finite(shape)
    low, high = (d.int(-1, max(0, min(n, 4))) for n in shape[-2:])

    def expected():
        i, j = np.indices(shape[-2:])
        keep = ((low < 0) | (i - j <= low)) & ((high < 0) | (j - i <= high))
        return np.where(keep, x, np.zeros_like(x))

    kind = d.index_dtype()
    return Example([x, np.array(low, kind), np.array(high, kind)], {}, expected)


def some_diagonal(d, rows, columns):
    """A diagonal that lies in the matrix."""
    return d.int(-max(rows - 1, 0), max(columns - 1, 0))


@case("diag")
def diag(d):
    shape = (*d.shape(high=2), d.dim()) if not d.large else (31, 67)
    x, k = d.finite(shape), d.int(-3, 3)

    def expected():
        n = shape[-1] + abs(k)
        y = np.zeros((*shape[:-1], n, n), x.dtype)
        i = np.arange(shape[-1])
        y[..., i + max(-k, 0), i + max(k, 0)] = x
        return y

    return Example([x], {"k": k}, expected)


@case("diag_part", "set_diag")
def diag_part(d):
    shape = matrices(d)
    if not d.large:
        shape = (*shape[:-2], max(shape[-2], 1), max(shape[-1], 1))
    x = d.finite(shape)
    k = some_diagonal(d, *shape[-2:])
    i = np.arange(length(*shape[-2:], k))
    at = (..., i + max(-k, 0), i + max(k, 0))
    if d.op == "diag_part":
        return Example([x], {"k": k}, lambda: x[at])
    diagonal = d.finite((*shape[:-2], len(i)))

    def expected():
        y = x.copy()
        y[at] = diagonal
        return y

    return Example([x, diagonal], {"k": k}, expected)


def placed(rows, columns, low, high, align):
    """For each diagonal of a band, top first: its row and column numbers, and where it begins in
    its row of the packed form."""
    sizes = [length(rows, columns, k) for k in range(low, high + 1)]
    longest = max(sizes)
    upper, lower = align.split("_")
    for row, k in enumerate(range(high, low - 1, -1)):
        n = length(rows, columns, k)
        left = (k >= 0 and upper == "LEFT") or (k <= 0 and lower == "LEFT")
        start = 0 if left else longest - n
        i = np.arange(n)
        yield row, i + max(-k, 0), i + max(k, 0), start, n


ALIGN = ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")


@case("diag_parts", "set_diags")
def diag_parts(d):
    batch = d.shape(high=1) if not d.large else (9,)
    rows, columns = (d.int(1, 6), d.int(1, 6)) if not d.large else (131, 127)
    low = some_diagonal(d, rows, columns)
    high = d.int(low, columns - 1)
    align = d.pick(*ALIGN)
    x = d.finite((*batch, rows, columns))
    longest = max(length(rows, columns, k) for k in range(low, high + 1))
    band = list(placed(rows, columns, low, high, align))
    attrs = {"k_low": low, "k_high": high, "align": align}
    packed_shape = (*batch, len(band), longest)
    if d.op == "diag_parts":
        fill = d.finite(())

        def parts():
            y = np.full(packed_shape, fill, x.dtype)
            for row, i, j, start, n in band:
                y[..., row, start : start + n] = x[..., i, j]
            return y

        return Example([x, fill], attrs, parts)
    diagonal = d.finite(packed_shape)

    def written():
        y = x.copy()
        for row, i, j, start, n in band:
            y[..., i, j] = diagonal[..., row, start : start + n]
        return y

    return Example([x, diagonal], attrs, written)

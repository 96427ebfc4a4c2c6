"""Matrices: factors multiplied back, solutions put in, transforms against NumPy's."""

import numpy as np

from op_cases.drawing import Example, case, narrow, wide

TOLERANCE = {"float32": 2e-4, "complex64": 4e-4, "float64": 1e-10, "complex128": 1e-10}


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def batch(d):
    return d.shape(high=2) if not d.large else (5,)


def size(d, low=0):
    return d.pick(*[n for n in (0, 1, 2, 3, 5, 9) if n >= low]) if not d.large else d.int(40, 60)


def close(got, want, d, scale=1.0):
    limit = TOLERANCE[d.dtype] * scale
    np.testing.assert_allclose(wide(got), np.asarray(want), rtol=limit, atol=limit)


def regular(d, n, rest):
    """Matrices far from singular ones."""
    return narrow(wide(d.finite((*rest, n, n), low=-1, high=1)) + 2 * n * np.eye(n), d.dtype)


def symmetric(d, n, rest):
    x = wide(d.finite((*rest, n, n)))
    return narrow((x + adjoint(x)) / 2, d.dtype)


def positive(d, n, rest):
    x = wide(d.finite((*rest, n, n), low=-1, high=1))
    return narrow(x @ adjoint(x) + (1 + n) * np.eye(n), d.dtype)


@case("cholesky")
def cholesky(d):
    a = positive(d, size(d), batch(d))

    def check(outputs):
        factor = wide(outputs[0])
        assert outputs[0].dtype == a.dtype
        close(factor @ adjoint(factor), a, d, 10)
        np.testing.assert_array_equal(factor, np.tril(factor))

    return Example([a], {}, check=check)


@case("qr")
def qr(d):
    full, (m, n) = d.flag(), (size(d, 1), size(d, 1))
    a = d.finite((*batch(d), m, n))

    def check(outputs):
        q, r = (wide(x) for x in outputs)
        k = min(m, n)
        assert q.shape == (*a.shape[:-2], m, m if full else k)
        assert r.shape == (*a.shape[:-2], m if full else k, n)
        close(q @ r, a, d, 10)
        close(adjoint(q) @ q, np.broadcast_to(np.eye(q.shape[-1]), (adjoint(q) @ q).shape), d, 10)
        np.testing.assert_array_equal(r, np.triu(r))

    return Example([a], {"full_matrices": full}, check=check)


@case("svd")
def svd(d):
    full, vectors, (m, n) = d.flag(), d.flag(), (size(d, 1), size(d, 1))
    a = d.finite((*batch(d), m, n))

    def check(outputs):
        s = outputs[0]
        close(s, np.linalg.svd(wide(a), compute_uv=False), d, 10)
        if vectors:
            u, v = wide(outputs[1]), wide(outputs[2])
            k = min(m, n)
            assert u.shape[-1] == (m if full else k) and v.shape[-1] == (n if full else k)
            back = (u[..., :k] * wide(s)[..., None, :]) @ adjoint(v[..., :k])
            close(back, a, d, 10)
            close(
                adjoint(u) @ u, np.broadcast_to(np.eye(u.shape[-1]), (adjoint(u) @ u).shape), d, 10
            )

    return Example([a], {"full_matrices": full, "compute_uv": vectors}, check=check)


@case("eigh")
def eigh(d):
    vectors = d.flag()
    a = symmetric(d, size(d, 1), batch(d))

    def check(outputs):
        close(wide(outputs[0]).real, np.linalg.eigvalsh(wide(a)), d, 20)
        if vectors:
            w, v = wide(outputs[0]), wide(outputs[1])
            close(v * w[..., None, :], wide(a) @ v, d, 20)

    return Example([a], {"compute_v": vectors}, check=check)


@case("eig")
def eig(d):
    vectors = d.flag()
    n = size(d, 1)
    # Eigenvalues apart from one another
    a = narrow(
        wide(d.finite((*batch(d), n, n), low=-0.3, high=0.3)) + np.diag(np.arange(n) * 2.0), d.dtype
    )

    def check(outputs):
        w = outputs[0].astype(np.complex128)
        want = np.linalg.eigvals(wide(a))
        np.testing.assert_allclose(
            np.sort_complex(w.round(3)).sum(-1),
            np.sort_complex(want.round(3)).sum(-1),
            atol=1e-3 * n * n,
            rtol=1e-3,
        )
        if vectors:
            v = outputs[1].astype(np.complex128)
            close(v * w[..., None, :], wide(a) @ v, d, 100 * n)

    return Example([a], {"compute_v": vectors}, check=check)


@case("lu")
def lu(d):
    n, out = size(d, 1), d.index_dtype()
    a = d.finite((*batch(d), n, n))

    def check(outputs):
        packed, perm = wide(outputs[0]), outputs[1]
        assert perm.dtype == np.dtype(out)
        lower = np.tril(packed, -1) + np.eye(n)
        product = lower @ np.triu(packed)
        close(product, np.take_along_axis(wide(a), perm[..., None].astype(int), -2), d, 10)

    return Example([a], {"output_idx_type": out}, check=check)


@case("matrix_inverse")
def inverse(d):
    n, turned = size(d), d.flag()
    a = regular(d, n, batch(d))

    def check(outputs):
        b = adjoint(wide(a)) if turned else wide(a)
        close(b @ wide(outputs[0]), np.broadcast_to(np.eye(n), a.shape), d, 4)

    return Example([a], {"adjoint": turned}, check=check)


@case("matrix_solve")
def solve(d):
    n, columns, turned, rest = size(d), size(d), d.flag(), batch(d)
    a, b = regular(d, n, rest), d.finite((*rest, n, columns))

    def check(outputs):
        m = adjoint(wide(a)) if turned else wide(a)
        assert outputs[0].shape == b.shape
        close(m @ wide(outputs[0]), b, d, 10)

    return Example([a, b], {"adjoint": turned}, check=check)


@case("triangular_solve")
def triangular_solve(d):
    n, columns, rest = size(d), size(d), batch(d)
    lower, turned = d.flag(), d.flag()
    a, b = regular(d, n, rest), d.finite((*rest, n, columns))

    def check(outputs):
        m = np.tril(wide(a)) if lower else np.triu(wide(a))
        m = adjoint(m) if turned else m
        close(m @ wide(outputs[0]), b, d, 10)

    return Example([a, b], {"lower": lower, "adjoint": turned}, check=check)


@case("tridiagonal_solve")
def tridiagonal_solve(d):
    n, columns, rest = size(d, 1), size(d), batch(d)
    bands = wide(d.finite((*rest, 3, n), low=-1, high=1))
    bands[..., 1, :] += 4
    bands, b = narrow(bands, d.dtype), d.finite((*rest, n, columns))

    def check(outputs):
        w = wide(bands)
        m = np.zeros((*rest, n, n), w.dtype)
        i = np.arange(n)
        m[..., i, i] = w[..., 1, :]
        m[..., i[:-1], i[1:]] = w[..., 0, :-1]
        m[..., i[1:], i[:-1]] = w[..., 2, 1:]
        close(m @ wide(outputs[0]), b, d, 10)

    return Example([bands, b], {"partial_pivoting": d.flag()}, check=check)


@case("matrix_determinant", "log_matrix_determinant")
def determinant(d):
    n = size(d) if not d.large else 12
    a = narrow(np.eye(n) + 0.2 * wide(d.finite((*batch(d), n, n), low=-1, high=1)), d.dtype)

    def check(outputs):
        if d.op == "matrix_determinant":
            close(outputs[0], np.linalg.det(wide(a)), d, 10)
            return
        sign, size_of = np.linalg.slogdet(wide(a))
        close(outputs[0], sign, d, 10)
        close(outputs[1], size_of, d, 10)

    return Example([a], {}, check=check)


def expm_by_series(a):
    """exp(a) = exp(a / 2^s)^(2^s), the inner one by its series."""
    halvings = 12
    term = np.broadcast_to(np.eye(a.shape[-1]), a.shape).astype(a.dtype)
    total, small = term, a / 2**halvings
    for k in range(1, 12):
        term = term @ small / k
        total = total + term
    for _ in range(halvings):
        total = total @ total
    return total


@case("expm", "logm", "sqrtm")
def functions_of_matrices(d):
    n = size(d, 1) if not d.large else 17
    rest = batch(d) if not d.large else (40,)
    if d.op == "expm":
        a = d.finite((*rest, n, n), low=-1, high=1)

        def check(outputs):
            want = expm_by_series(wide(a))
            close(wide(outputs[0]) / (1 + np.abs(want)), want / (1 + np.abs(want)), d, 20)

    else:
        a = positive(d, n, rest)
        a = narrow(wide(a) / (2 * n), d.dtype)

        def check(outputs):
            y = wide(outputs[0])
            back = expm_by_series(y) if d.op == "logm" else y @ y
            close(back, a, d, 20)

    return Example([a], {}, check=check)


@case("fft")
def fft(d):
    x = d.finite(d.shape(1, 3, dims=1, total=20_001))
    axes = sorted({d.axis(x.ndim) % x.ndim for _ in range(d.int(1, 2))})
    if d.large:
        axes = [a for a in axes if x.shape[a] < 6000] or [x.ndim - 1]
    axes = [a - x.ndim for a in axes]
    inverse = d.flag()
    function = np.fft.ifftn if inverse else np.fft.fftn
    return Example(
        [x],
        {"axes": axes, "inverse": inverse},
        lambda: narrow(function(wide(x), axes=axes), d.dtype),
        ulps=64,
        atol=64 * max(4, x.size**0.5),
    )


@case("rfft", "irfft")
def rfft(d):
    rest = d.shape(high=2) if not d.large else (301,)
    n = d.pick(1, 2, 3, 7, 8, 30) if not d.large else d.pick(64, 75)
    if d.op == "rfft":
        x = d.finite((*rest, n))
        out = "complex64" if d.dtype == "float32" else "complex128"
        return Example([x], {}, lambda: narrow(np.fft.rfft(wide(x)), out), ulps=64, atol=512)
    x = d.finite((*rest, n // 2 + 1))
    out = "float32" if d.dtype == "complex64" else "float64"
    return Example(
        [x], {"length": n}, lambda: narrow(np.fft.irfft(wide(x), n), out), ulps=64, atol=512
    )

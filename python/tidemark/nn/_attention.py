"""Attention of ``tf.nn.experimental``."""

from __future__ import annotations

from tidemark._export import export
from tidemark._graph.at_run import sized_when_run
from tidemark._tensor.creation import cast, convert_to_tensor
from tidemark._tensor.static import known_size, sizes_of
from tidemark._tidemark import call, convert


@export("tf.nn.experimental.scaled_dot_product_attention")
@sized_when_run
def scaled_dot_product_attention(
    query, key, value, mask=None, is_causal=False, scale=None, name=None
):
    """softmax(query keyᵀ scale) value over [..., length, depth], without storing the scores.

    A boolean mask says which keys each query sees. A mask of numbers is added to the scores; that
    form does store them. ``scale`` is 1 / sqrt(depth) unless given.
    """
    query = convert_to_tensor(query)
    if scale is None:
        scale = max(1, known_size(query, -1)) ** -0.5
    mask = convert_to_tensor(True) if mask is None else convert_to_tensor(mask)
    if 0 < mask.ndim < query.ndim:
        lead = [1] * (query.ndim - mask.ndim)
        mask = call("reshape", (mask, [*lead, *sizes_of(mask)]), {})
    inputs = [convert_to_tensor(t) for t in (query, key, value)]
    if mask.dtype.name == "bool":
        attrs = {"scale": float(scale), "causal": bool(is_causal)}
        return call("attention", (*inputs, mask), attrs)[0]
    if query.dtype.name in ("float16", "bfloat16"):
        inputs = [cast(t, "float32") for t in inputs]
    return cast(_with_added_mask(*inputs, mask, is_causal, scale), query.dtype)


def _with_added_mask(query, key, value, mask, is_causal, scale):
    scores = call("matmul", (query * float(scale), key), {"transpose_b": True})
    scores = scores + cast(mask, scores.dtype)
    if is_causal:
        ones = call("fill", (list(sizes_of(scores)[-2:]), convert_to_tensor(True)), {})
        seen = call("band_part", (ones, -1, 0), {})
        lowest = convert(float("-inf"), scores._dtype_enum)
        scores = call("select", (seen, scores, lowest), {})
    return call("matmul", (call("softmax", (scores,), {}), value), {})

"""Text and compressed bytes into tensors: ``tf.io.decode_csv`` and the like."""

from __future__ import annotations

from tidemark import dtypes
from tidemark._export import dispatching, export
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tidemark import call, is_symbolic, is_tracing, static_value
from tidemark.errors import InvalidArgumentError

_CSV_DTYPES = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.string)


def _csv_column(fields, default, na_value, column):
    """One column as its default's dtype; the default where a field is empty or not available."""
    default = convert_to_tensor(default)
    if default.dtype not in _CSV_DTYPES:
        raise TypeError(
            f"[decode_csv] record_defaults[{column}] is {default.dtype}; allowed are float32, "
            "float64, int32, int64 and string"
        )
    if default.ndim > 1 or default.shape.num_elements() > 1:
        raise ValueError(
            f"[decode_csv] record_defaults[{column}] must hold one value or none, got shape "
            f"{default.shape}"
        )
    missing = call("equal", (fields, ""), {})
    if na_value:
        missing = call("logical_or", (missing, call("equal", (fields, na_value), {})), {})
    if default.shape.num_elements() == 0:
        required = call("any", (missing,), {})
        if required.numpy():
            raise InvalidArgumentError(
                None, None, f"[decode_csv] Field {column} is required but missing in a record!"
            )
        text = fields
    else:
        value = call("reshape", (default, []), {})
        if default.dtype == dtypes.string:
            return call("select", (missing, value, fields), {})
        text = call("select", (missing, "0", fields), {})
    if default.dtype == dtypes.string:
        return text
    numbers = call("string_to_number", (text,), {"out_type": default.dtype})
    if default.shape.num_elements() == 0:
        return numbers
    return call("select", (missing, value, numbers), {})


def _decoded_when_run(records, record_defaults, *rest):
    """One step of the graph: what fields hold is there when it runs."""
    from tidemark._graph.staged import python_call  # only graphs need it

    defaults = [convert_to_tensor(d) for d in record_defaults]
    values = [static_value(d) if is_symbolic(d) else d for d in defaults]
    given = [d if v is None else v for d, v in zip(record_defaults, values, strict=True)]
    shape = None if records.shape.rank is None else records.shape.as_list()
    made = python_call(
        lambda text: decode_csv(text, given, *rest), [records],
        [(default.dtype, shape) for default in defaults],
    )  # fmt: skip
    return list(made) if isinstance(made, (list, tuple)) else [made]


@export("tf.io.decode_csv")
def decode_csv(
    records,
    record_defaults,
    field_delim=",",
    use_quote_delim=True,
    na_value="",
    select_cols=None,
    name=None,
):
    """The columns of CSV records, each a tensor of its default's dtype."""
    if is_symbolic(records) and is_tracing():
        return _decoded_when_run(
            records, record_defaults, field_delim, use_quote_delim, na_value, select_cols
        )
    if select_cols is not None:
        if any(b <= a for a, b in zip(select_cols, select_cols[1:], strict=False)):
            raise ValueError("select_cols is not strictly increasing.")
        if select_cols and select_cols[0] < 0:
            raise ValueError("select_cols contains negative values.")
        if len(select_cols) != len(record_defaults):
            raise ValueError("Length of select_cols and record_defaults do not match.")
    records = convert_to_tensor(records, dtype=dtypes.string)
    if select_cols is None:
        chosen, width = range(len(record_defaults)), len(record_defaults)
    else:
        # Any number of columns is fine as long as the chosen ones are there: the first record says.
        chosen = select_cols
        width = _columns_of(records, field_delim, use_quote_delim)
        if chosen and chosen[-1] >= width:
            raise InvalidArgumentError(
                None,
                None,
                f"[decode_csv] Expect at least {chosen[-1] + 1} fields but have {width}",
            )
    attrs = {"columns": width, "field_delim": field_delim, "use_quote_delim": use_quote_delim}
    fields = call("split_csv", (records,), attrs)
    columns = call("unstack", (fields,), {"axis": records.ndim, "num": width})
    columns = columns if isinstance(columns, (list, tuple)) else [columns]
    return [
        _csv_column(columns[index], default, na_value, index)
        for index, default in zip(chosen, record_defaults, strict=True)
    ]


def _columns_of(records, field_delim, use_quote_delim):
    flat = records.numpy()
    first = flat if isinstance(flat, bytes) else flat.ravel()[0] if flat.size else b""
    count, quoted = 1, False
    for byte in first:
        if use_quote_delim and byte == ord('"'):
            quoted = not quoted
        elif byte == ord(field_delim) and not quoted:
            count += 1
    return count


@export("tf.io.decode_compressed")
@dispatching
def decode_compressed(bytes, compression_type="", name=None):
    """Strings decompressed: "ZLIB", "GZIP", or "" for those that are not compressed."""
    if compression_type == "":
        return convert_to_tensor(bytes, dtype=dtypes.string)
    return call("decode_compressed", (bytes,), {"compression_type": compression_type})

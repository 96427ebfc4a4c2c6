"""Operations that are a recurrent cell, or a cell over all steps, at once."""

from __future__ import annotations

import itertools

import tidemark as tf


def _gates(x, h, w, b, order):
    parts = tf.split(tf.matmul(tf.concat([x, h], 1), w) + b, 4, 1)
    return dict(zip(order, parts, strict=True))


def _lstm_step(x, cs_prev, h_prev, w, wci, wcf, wco, b, forget_bias, cell_clip, use_peephole,
               order):  # fmt: skip
    gates = _gates(x, h_prev, w, b, order)
    peep_i = wci * cs_prev if use_peephole else 0.0
    peep_f = wcf * cs_prev if use_peephole else 0.0
    i = tf.sigmoid(gates["i"] + peep_i)
    f = tf.sigmoid(gates["f"] + forget_bias + peep_f)
    ci = tf.tanh(gates["c"])
    cs = ci * i + cs_prev * f
    if cell_clip > 0:
        cs = tf.clip_by_value(cs, -cell_clip, cell_clip)
    o = tf.sigmoid(gates["o"] + (wco * cs if use_peephole else 0.0))
    co = tf.tanh(cs)
    return [i, cs, f, o, ci, co, co * o]


def _lstm_cell(x, cs_prev, h_prev, w, wci, wcf, wco, b, forget_bias, cell_clip, use_peephole):
    return _lstm_step(
        x, cs_prev, h_prev, w, wci, wcf, wco, b, forget_bias, cell_clip, use_peephole, "icfo"
    )


def _lstm_block(order):
    """The cell over all steps; steps behind ``seq_len_max`` are zeros."""

    def block(seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, cell_clip, use_peephole,
              forget_bias=0.0):  # fmt: skip
        def step(before, row):
            return _lstm_step(
                row, before[1], before[6], w, wci, wcf, wco, b, forget_bias, cell_clip,
                use_peephole, order,
            )  # fmt: skip

        nothing = tf.zeros_like(cs_prev)
        first = [nothing, cs_prev, nothing, nothing, nothing, nothing, h_prev]
        if x.shape.rank is None or x.shape[0] is None:
            columns = tf.scan(step, x, first)
        else:
            rows = itertools.accumulate(tf.unstack(x), step, initial=first)
            steps = list(itertools.islice(rows, 1, None))
            columns = [tf.stack(column) for column in zip(*steps, strict=True)]
        alive = tf.range(tf.shape(x)[0]) < tf.cast(seq_len_max, tf.int32)
        alive = tf.reshape(alive, [-1, 1, 1])
        return [tf.where(alive, column, tf.zeros_like(column)) for column in columns]

    return block


def _gru_cell(x, h_prev, w_ru, w_c, b_ru, b_c):
    r, u = tf.split(tf.sigmoid(tf.matmul(tf.concat([x, h_prev], 1), w_ru) + b_ru), 2, 1)
    c = tf.tanh(tf.matmul(tf.concat([x, r * h_prev], 1), w_c) + b_c)
    return [r, u, c, u * h_prev + (1 - u) * c]


WRITTEN = {
    "BlockLSTM": _lstm_block("icfo"),
    "BlockLSTMV2": _lstm_block("ifco"),
    "GRUBlockCell": _gru_cell,
    "LSTMBlockCell": _lstm_cell,
}

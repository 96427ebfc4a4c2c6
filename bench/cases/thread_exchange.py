"""Sixteen threads that allocate and free each other's buffers: bounded, and every total exact."""

from case import Case, InCpp, Row

CASE = Case(
    about="16 threads allocating and freeing each other's buffers for 60 s",
    subjects=[InCpp("C++", "thread_exchange")],
    rows=[
        Row("16 threads, retained/bound", "C++.retained_of_bound", at_most=1),
        Row("  live bytes left over", "C++.live_bytes_left", at_most=0),
        Row("  buffers left over", "C++.live_buffers_left", at_most=0),
        Row("  wrong totals seen", "C++.wrong_totals", at_most=0),
        Row("  exchange of a buffer", "C++.exchange_ns", unit="ns"),
    ],
    rounds=1,
    worst_of=frozenset({"C++.retained_of_bound"}),
)

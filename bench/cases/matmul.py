"""Matrix products against oneDNN called directly, in one C++ process that takes turns."""

from case import Case, InCpp, Row

CUBES = (64, 128, 256, 512, 1024, 2048)
SHAPES = {**{str(n): f"{n}^3" for n in CUBES}, "1x1024x1024": "1x1024x1024"}

CASE = Case(
    about="matmul f32 and bf16, 64 to 2048 and 1x1024x1024, against oneDNN called directly",
    subjects=[InCpp("C++", "matmul")],
    rows=[
        Row(
            f"matmul {dtype} {shown}",
            f"C++.{dtype}_{shape}_ns",
            f"C++.{dtype}_{shape}_library_ns",
            at_most_ratio=1.05,
            unit="ns",
            peer_label="oneDNN",
        )
        for dtype in ("f32", "bf16")
        for shape, shown in SHAPES.items()
    ],
)

"""The transformer's training step under budgets: what less memory costs in time.

Parts are of what its values take where nothing is done twice, and of what the plan that is made
without a budget takes, which repeats what is cheap already.
"""

from case import Case, InPython, Options, Row
from timing import interleaved_ns

PARTS = (60, 40)
WHOLES = ("once", "usual")


def tidemark(options: Options):
    import os

    import models

    import tidemark as tf

    free = models.compiled_step(tf, "gpt")
    usual = free.plan().peak
    os.environ["TIDEMARK_PLAN_REPEAT"] = "0"
    once = models.compiled_step(tf, "gpt").plan().peak
    del os.environ["TIDEMARK_PLAN_REPEAT"]
    functions, values = {"free": free}, {}
    for whole, peak in zip(WHOLES, (once, usual), strict=True):
        for part in PARTS:
            name = f"{whole}_{part}"
            budget = peak * part // 100
            functions[name] = models.compiled_step(tf, "gpt", memory_budget=budget)
            values[f"{name}_budget"] = budget
            values[f"{name}_peak"] = functions[name].plan().peak
    return values | interleaved_ns(functions, calls=1, repeats=options.pick(12, 2))


def rows(whole: str, said: str) -> list[Row]:
    made = []
    for part, slower in zip(PARTS, (1.2, 1.4), strict=True):
        name = f"tidemark.{whole}_{part}"
        about = f"{part} % of {said}"
        made.append(Row(about, name, "tidemark.free", slower, unit="ns"))
        made.append(Row(f"{about}, peak", f"{name}_peak", f"{name}_budget", 1, unit="B"))
    return made


CASE = Case(
    about="the transformer's training step under memory budgets, against none",
    subjects=[InPython("tidemark", tidemark)],
    rows=[*rows("once", "all values"), *rows("usual", "the usual plan")],
)

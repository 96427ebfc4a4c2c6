"""Plans of training graphs: the peak over the load's lower bound, and the time planning takes."""

from case import Case, InPython, Options, Row

NAMES = ("mlp", "cnn", "gpt12", "resnet50", "bert_base", "unet")


def tidemark(name):
    def run(options: Options):
        from planned_graphs import plan_of

        plan = plan_of(name)
        return {
            "ratio": plan.peak / plan.lower_bound,
            "seconds": plan.seconds,
            "peak_mib": plan.peak / 2**20,
        }

    return run


def rows(name):
    yield Row(f"{name}, peak over its bound", f"{name}.ratio", at_most=1.02)
    bar = 1.0 if name == "gpt12" else None
    yield Row("  planning", f"{name}.seconds", at_most=bar, unit="s")
    yield Row("  peak", f"{name}.peak_mib", unit="MiB")


CASE = Case(
    about="peaks of planned training graphs over their lower bounds, and the planning time",
    subjects=[InPython(name, tidemark(name), environment="tidemark") for name in NAMES],
    rows=[row for name in NAMES for row in rows(name)],
    rounds=1,
)

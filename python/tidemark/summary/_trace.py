"""``tf.summary.trace_on`` and its kin: what runs between them, as a profile."""

from __future__ import annotations

_state = {"on": False, "profiler": None}


def trace_on(graph=True, profiler=False, profiler_outdir=None):
    """Begins to profile, if asked for; graphs are kept by the functions themselves."""
    from tidemark.profiler import experimental  # loaded on first use

    if profiler and not profiler_outdir:
        raise ValueError("profiler_outdir is needed when profiler is True")
    if profiler:
        experimental.start(profiler_outdir)
    _state.update(on=True, profiler=profiler_outdir if profiler else None)


def trace_export(name, step=None, profiler_outdir=None):
    """Ends it and writes the profile."""
    if not _state["on"]:
        raise ValueError("Must enable trace before export through tf.summary.trace_on.")
    trace_off(save=True)


def trace_off(save=False):
    """Ends it."""
    from tidemark.profiler import experimental  # loaded on first use

    profiler = _state["profiler"]
    _state.update(on=False, profiler=None)
    if profiler:
        experimental.stop(save=save)

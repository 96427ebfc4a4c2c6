"""Who is told of traces and runs; what listens is loaded when somebody looks on."""

active = None  # while a doctor or a profile looks on, its ``notes.Notes``

"""The doctor's rules: each looks at a run and yields what it finds.

A rule tells the line that makes the memory and its holder, and which bytes (``keys``) or which
objects (``owner``) it is about: ``findings`` looks up the chain that keeps these, and with it the
line to change.
"""

from __future__ import annotations

from collections import Counter

from tidemark._explain import growth, source
from tidemark._explain.source import bytes_text

_MANY_TRACES = 5
_FEW_STEPS = 5
_BIG_CONSTANT = 1 << 20
_BIG_DATASET = 32 << 20
_BIG_THREADS = 8 << 20
_MIB = 1 << 20
_A_FEW_NUMBERS = 64  # bytes a step: a loss that is kept is worth no change until there are many
# Bytes a step from which on growth is told. Small constants come with every trace: the rules about
# traces tell of them.
_LEAST = {"constant": 8192}

# holder's kind → (rule, title, fix)
_GROWTH = {
    "list": ("tensors-gathered", "Tensors are gathered in a {kind}",
             "{name}.append(float(tf.reduce_mean(x)))   # a number, not the tensor\n"
             "# or {name}.clear() when you have used them"),
    "tape": ("history-kept", "A GradientTape records on and on: it keeps every step's history",
             "with tf.GradientTape() as tape:  # inside the loop, one a step\n"
             "    loss = …"),
    "persistent": ("persistent-tape", "Persistent tapes stay and keep their history",
                   "with tf.GradientTape() as tape:  # not persistent: freed as it is used\n"
                   "# or, after the last tape.gradient(…):  del tape"),
    "variable": ("variables-each-step", "Variables are made in every step and stay",
                 "v = tf.Variable(…)   # once, before the loop\n"
                 "v.assign(…)          # in the loop"),
    "constant": ("constants-baked-in", "Every step bakes data into a graph or a trace",
                 "def f(x, data): …    # give the data as an argument: f(x, data)\n"
                 "# in a graph: p = tf.placeholder(…); sess.run(y, {{p: data}})"),
    "traceback": ("traceback-holds", "Errors that were caught keep their frames' tensors",
                  "except ValueError as error:\n"
                  "    errors.append(str(error))   # the text, not the error"),
    "cycle": ("reference-cycle", "Reference cycles keep tensors until the collector comes",
              "self.parent = weakref.ref(parent)   # break the cycle with a weak reference\n"
              "# or, when done:  self.parent = None"),
    "session": ("sessions-left-open", "Sessions are left open, with all their variables",
                "with tf.compat.v1.Session() as sess:   # closed at the end of the block\n"
                "    sess.run(…)"),
    "dataset": ("dataset-buffer", "A dataset's buffer grows",
                "dataset = dataset.shuffle(1000)   # a smaller buffer\n"
                "iterator = iter(dataset)           # once, not in every step"),
    "arena": ("threads-arenas", "Every thread has an arena of its own",
              "pool = ThreadPoolExecutor(max_workers=2)   # fewer threads at once\n"
              "# or one thread that gathers the calls into a batch"),
}  # fmt: skip
# Kinds of holders that rules of their own tell of, or nobody: any other is what keeps values, also
# a container of a class that nobody here has heard of.
_NOT_KEEPERS = ("workspace", "gradient", "cache", "borrowed", "library's cycle", *_GROWTH)

# Of these the holder's line is where the program makes it, and with it all that it will keep.
_MADE_OR_OPENED = ("tape", "persistent", "session", "dataset")

_KINDS = {"dict": "dict", "set": "set", "deque": "deque", "ndarray": "NumPy array"}


def _place(place):
    file, line, _ = source.parse_place(place)
    return source.full_path(file), line


def finding(rule, title, file, line, holder, fix, **more):
    """What a rule tells of one thing that it found."""
    return {"rule": rule, "title": title, "file": file, "line": line, "holder": holder,
            "fix": fix, "bytes_per_step": 0.0, "bytes_now": 0, "verdict": growth.FLAT,
            "evidence": "", "keys": (), "owner": None, "is_at_call": False, **more}  # fmt: skip


def _topic(holder, kind):
    """Which row of the table a growing group belongs to."""
    if kind == "constant":
        return kind
    if holder is None:
        return {"value": None, "workspace": None}.get(kind, kind)
    if holder.kind == "tape":
        return "persistent" if "persistent" in holder.words else "tape"
    if holder.kind in _NOT_KEEPERS and holder.kind != "list":
        return holder.kind
    return "variable" if kind == "variable" else "list"


def growing(run):
    """What grows from step to step, by who holds it."""
    groups, _ = growth.growing_groups(run.analysis)
    by_holder = {}
    for key, grown in groups:
        holder = run.seen.holder_of.get(key, (0, None))[1]
        topic = _topic(holder, key[2])
        if topic is None:
            continue
        name = holder.words if holder is not None and topic != "variable" else topic
        by_holder.setdefault((topic, name), []).append((key, grown, holder))
    for (topic, _), members in by_holder.items():
        members.sort(key=lambda member: -member[1].bytes_per_step)
        (place, op, _), _, holder = members[0]
        rate = sum(grown.bytes_per_step for _, grown, _ in members)
        requested = sum(grown.bytes_per_step * run.seen.chains.requested.get(key, 1.0)
                        for key, grown, _ in members)  # fmt: skip
        if topic not in _GROWTH or rate < _LEAST.get(topic, 64):
            continue
        live = sum(_live_at_end(run, key) for key, *_ in members)
        highest = max(live, sum(_highest(run, key) for key, *_ in members))
        if topic == "list" and requested < _A_FEW_NUMBERS and highest < _MIB:
            continue
        if topic == "constant":
            run.reported_constants.update(h.words for *_, h in members if h is not None)
        rule, title, fix = _GROWTH[topic]
        file, line = _place(place)
        if holder and holder.line and (topic in _MADE_OR_OPENED or not line):
            file, line = holder.file, holder.line
        names = {
            "kind": _KINDS.get(holder.kind if holder else "", "list"),
            "name": holder.name if holder and holder.name else "results",
        }
        words = _holder_words(topic, holder, members, run)
        yield finding(
            rule, title.format(**names), file, line, words, fix.format(**names),
            bytes_per_step=requested, overhead_per_step=rate - requested, bytes_now=highest,
            verdict=growth.GROWING, keys=[key for key, *_ in members],
            owner=("iterator", ()) if topic == "dataset" else None,
            evidence=f"{op or 'values'} at {place}, {bytes_text(requested)} more in every one of "
            f"{run.analysis['steps']['count']:,} steps",
        )  # fmt: skip


def _holder_words(topic, holder, members, run):
    if holder is None:
        return topic
    keys = {key for key, *_ in members}
    at_peak = sum(g["count_at_peak"] for g in run.analysis["groups"]
                  if (g["place"], g["op"], g["holder"]) in keys)  # fmt: skip
    count = max(holder.count, at_peak)
    return f"{holder.words}, {count} tensors" if count > 1 else holder.words


def _live_at_end(run, key):
    return sum(g["live_bytes"] for g in run.analysis["groups"]
               if (g["place"], g["op"], g["holder"]) == key)  # fmt: skip


def _highest(run, key):
    return sum(g["peak_bytes"] for g in run.analysis["groups"]
               if (g["place"], g["op"], g["holder"]) == key)  # fmt: skip


def retracing(run):
    """A function is traced again and again, for values, shapes or objects it meets."""
    by_function = {}
    for note in run.notes.traces:
        by_function.setdefault(note.number, []).append(note)
    reported = set()
    for traces in by_function.values():
        code = traces[0].defined if traces[0].defined[1] else traces[0].number
        if len(traces) < _MANY_TRACES or code in reported:
            continue
        reported.add(code)
        kinds = Counter(kind for note in traces[1:] for kind in note.kinds)
        kind = kinds.most_common(1)[0][0] if kinds else "value"
        kind = "identity" if "object" in traces[-1].reason and kind == "value" else kind
        yield _retraced(run, kind, traces)


_RETRACE = {
    "value": ("retrace-value", "traced again for every Python value",
              "f(tf.constant(n))   # a tensor: one trace for all numbers\n"
              "# in f: for i in tf.range(n), not range(n)"),
    "shape": ("retrace-shape", "traced again for every shape",
              "@tf.function(input_signature=[tf.TensorSpec([None, …])])\n"
              "# in f: tf.shape(x)[0], not x.shape[0]"),
    "identity": ("retrace-identity", "traced again for every object it is given",
                 "helper = make_helper()   # once, before the loop\n"
                 "f(x, helper)             # the same object each time"),
    "structure": ("retrace-structure", "traced again for every structure of its arguments",
                  "f(tf.stack(items))   # one tensor instead of ever longer lists\n"
                  "# keep the keys and the length of what you pass the same"),
}  # fmt: skip


def _retraced(run, kind, traces):
    rule, title, fix = _RETRACE.get(kind, _RETRACE["value"])
    last = traces[-1]
    file, line, _ = source.parse_place(last.place)
    total = sum(note.nbytes for note in traces)
    calls = max(len(traces), run.analysis["steps"]["count"])
    return finding(
        rule, f"{last.function}() is {title}", file, line,
        f"{len(traces)} traces of {last.function}()", fix,
        bytes_per_step=total / calls, bytes_now=total, verdict=growth.GROWING,
        evidence=f"{len(traces)} traces; the last because of {last.reason}",
        owner=("function", last.defined), is_at_call=True, function=last.function,
        outlook="kept up to TIDEMARK_TRACE_CACHE (256 MiB), and each costs time",
    )  # fmt: skip


def functions_in_a_loop(run):
    """tf.function is applied anew in each round: nothing is ever used twice."""
    by_code = {}
    for note in run.notes.traces:
        by_code.setdefault(note.defined, {}).setdefault(note.number, []).append(note)
    for defined, functions in by_code.items():
        if len(functions) < _MANY_TRACES or not defined[1]:
            continue
        notes = [note for all_ in functions.values() for note in all_]
        total = sum(note.nbytes for note in notes)
        steps = max(len(functions), run.analysis["steps"]["count"])
        line = source.line_of_compiling(*defined, notes[0].function)
        yield finding(
            "function-in-loop", f"tf.function is made anew {len(functions)} times",
            defined[0], line, f"{len(functions)} functions {notes[0].function}()",
            f"@tf.function           # once, at the top of the module\n"
            f"def {notes[0].function}(…): …",
            bytes_per_step=total / steps, bytes_now=total, verdict=growth.FLAT,
            evidence=f"{len(functions)} functions made of one definition, each traced for itself",
            owner=("function", defined),
        )  # fmt: skip


def python_steps(run):
    """A function of the library runs in Python inside of a compiled function."""
    reported = set()
    for note in run.notes.traces:
        for step, place in note.python_steps:
            if step == "py_function" or (step, place) in reported:  # which the user asked for
                continue
            reported.add((step, place))
            file, line = _place(place)
            yield finding(
                "python-step", f"Python step in a compiled function: {step} in {note.function}()",
                file, line, f"{step} in {note.function}()",
                "@tf.function(input_signature=[…])   # with the sizes it needs, or\n"
                "x = tf.ensure_shape(x, […])          # before the call",
                evidence=f"{step} needs a size or a value that tracing did not know: every call "
                "waits for Python there, and no other thread runs Python meanwhile",
            )  # fmt: skip


def bounces(run):
    """An op runs on the host in every step: what it reads comes from a device each time."""
    steps = run.analysis["steps"]["count"]
    for op, place, copies, size in sorted(run.notes.bounces, key=lambda one: -one[3]):
        if steps < _FEW_STEPS or copies < steps - 2:  # the first steps may be made elsewhere
            continue
        file, line = _place(place)
        yield finding(
            "device-bounces", f"{op} bounces between devices each step",
            file, line, f"{op} on the host",
            "with tf.device('/CPU:0'): …   # the steps around it, too, so that less is copied\n"
            "# or another op, for which the device has a kernel",
            evidence=f"{copies:,} copies to the host in {steps:,} steps, "
            f"{bytes_text(size / steps)} a step: the device has no kernel for it, and the host "
            "waits for the device each time",
        )  # fmt: skip


def changed_state(run):
    """A Python value that a trace has baked in has changed since."""
    seen = set()
    for function, name, file, line, was, now in run.notes.changed_state:
        if (file, line, name) in seen:
            continue
        seen.add((file, line, name))
        change = f": {was} then, {now} now" if was else ""
        yield finding(
            "captured-state", f'{function}() uses "{name}" as it was when it was traced',
            file, line, f'Python value "{name}"',
            f"def {function}(x, {name}): …   # give it as an argument, or\n"
            f"{name} = tf.Variable(…)        # make it a variable",
            evidence=f"it has changed since{change}", function=function,
        )  # fmt: skip


def graph_growth(run):
    """A graph takes new nodes from run to run, and they stay."""
    nodes = run.notes.nodes
    if run.notes.runs < 16 or len(nodes) < 8:
        return
    grown = growth.judge([n for n, _ in nodes], [1000 * count for _, count in nodes])
    if not grown.is_growing or grown.bytes_per_step < 500:
        return
    places = sorted(run.notes.new_fetches.items(), key=lambda item: -item[1])
    place = places[0][0] if places else ""
    file, line = _place(place)
    a_step = grown.bytes_per_step / 1000
    size = 480  # of a node with its outputs, about
    yield finding(
        "graph-grows", "The graph takes new nodes in every run", file, line, "the graph's nodes",
        "y = tf.square(x)            # build once, before the loop\n"
        "sess.graph.finalize()       # then adding a node raises an error that names the line",
        bytes_per_step=a_step * size, bytes_now=int(nodes[-1][1] * size), verdict=growth.GROWING,
        owner=("graph", ()),
        evidence=f"{a_step:.1f} nodes more in each of {run.notes.runs:,} runs",
    )  # fmt: skip


def big_constants(run):
    """Large data baked into the trace of a function."""
    for holder in run.seen.by_words.values():
        is_reported = holder.words in run.reported_constants  # as growth
        if holder.kind != "constant" or not holder.line or is_reported:
            continue
        if holder.bytes < _BIG_CONSTANT:
            continue
        yield finding(
            "big-constant", f"{bytes_text(holder.bytes)} of data are baked into {holder.name}()",
            holder.file, holder.line, holder.text,
            f"def {holder.name}(x, data): …   # give the data as an argument\n"
            "data = tf.Variable(data)         # or keep it in a variable",
            bytes_now=holder.bytes, evidence="every further trace has it too",
            function=holder.name,
            keys=list(holder.groups), is_at_call=True,
        )  # fmt: skip


def sessions_left_open(run):
    """More than one session of one line is open at once."""
    for place, count in run.seen.open_sessions.items():
        if count < 3:
            continue
        file, line = _place(place)
        held = sum(h.bytes for h in run.seen.by_words.values()
                   if h.kind == "session" and place in h.words)  # fmt: skip
        yield finding(
            "sessions-left-open", f"{count} sessions of one line are open at once", file, line,
            f"{count} open sessions", _GROWTH["session"][2], bytes_now=held,
            evidence="each keeps its variables and its plans until it is closed",
            owner=("session", (place,)),
        )  # fmt: skip


def threads(run):
    """Every thread has its own copy of the same thing."""
    for words, by_thread in run.seen.threads.items():
        total = sum(by_thread.values())
        if len(by_thread) < 4 or total < _BIG_THREADS:
            continue
        holder = run.seen.by_words[words]
        place = max(holder.groups.items(), key=lambda item: item[1])[0][0]
        file, line = _place(place)
        yield finding(
            "threads-arenas", f"{len(by_thread)} threads have a copy each", file, line, words,
            f"{holder.name} = …     # once, before the threads start: they can share it\n"
            "# or fewer threads: ThreadPoolExecutor(max_workers=2)",
            bytes_now=total,
            evidence=f"{len(by_thread)} × {bytes_text(total / len(by_thread))}",
            keys=list(holder.groups),
        )  # fmt: skip


def peak(run):
    """The peak comes near the limit: which lines make it."""
    analysis = run.analysis
    if analysis["peak"] < 0.8 * run.limit:
        return
    largest = [g for g in analysis["groups"] if g["bytes_at_peak"] > 0][:3]
    if not largest:
        return
    file, line = _place(largest[0]["place"])
    evidence = "; ".join(f"{bytes_text(g['bytes_at_peak'])} by {g['op'] or 'values'} at "
                         f"{g['place']}" for g in largest)  # fmt: skip
    yield finding(
        "peak-intermediates", f"The peak takes {analysis['peak'] / run.limit:.0%} of the limit",
        file, line, f"intermediates of {largest[0]['place']}",
        "@tf.function            # intermediates are freed at their last use\n"
        "del y                   # or drop what is not needed any more; or a smaller batch",
        bytes_now=analysis["peak"], verdict=growth.PEAK, evidence=f"at the peak: {evidence}",
    )  # fmt: skip


def dataset_buffers(run):
    """A dataset keeps more than the rest of the program together."""
    size, live, holder = run.seen.dataset
    if size < _BIG_DATASET or size < 0.5 * live:
        return
    place = max(holder.groups.items(), key=lambda item: item[1])[0][0]
    file, line = _place(place)
    yield finding(
        "dataset-buffer", "A dataset's buffer has most of the memory", file, line, holder.text,
        "dataset = dataset.shuffle(1000)   # a smaller buffer, or shuffle file names instead\n"
        "# shuffle before decoding and batching: elements are smaller there",
        bytes_now=size, evidence=f"{bytes_text(size)} of {bytes_text(live)} that are live",
        keys=list(holder.groups), owner=("iterator", ()), is_at_call=True,
    )  # fmt: skip


def kept_for_nothing(run):
    """Cycles, tracebacks and persistent tapes that hold much, whether or not it grows."""
    for holder in run.seen.by_words.values():
        topic = _topic(holder, "")
        if topic not in ("cycle", "traceback", "persistent") or holder.bytes < _MIB:
            continue
        if topic == "persistent" and run.seen.tapes.get(holder.words, 0) < 3:
            continue
        rule, title, fix = _GROWTH[topic]
        place = max(holder.groups.items(), key=lambda item: item[1])[0][0]
        file, line = _place(place)
        if topic == "persistent" and holder.line:
            file, line = holder.file, holder.line
        yield finding(
            rule, title, file, line, holder.text, fix.format(kind="", name=""),
            bytes_now=holder.bytes, evidence=f"{bytes_text(holder.bytes)} seen at once",
            keys=list(holder.groups),
        )  # fmt: skip


def once_each(rule_functions):
    """The same rule about the same line is told once: the growing one first."""

    def merged(run):
        reported = set()
        for rule in rule_functions:
            for raw in rule(run):
                key = (raw["rule"], raw["line"])
                same_rule = any(k[0] == raw["rule"] for k in reported)
                if key in reported or (raw["verdict"] != growth.GROWING and same_rule):
                    continue
                reported.add(key)
                yield raw

    return merged


ALL = [
    once_each([growing, sessions_left_open, threads, dataset_buffers, kept_for_nothing]),
    retracing, functions_in_a_loop, python_steps, bounces, changed_state, graph_growth,
    big_constants, peak,
]  # fmt: skip
# Those that ask for nothing but the buffers of a device.
OF_DEVICES = [growing, peak]

"""Recordings and moments in the formats of other tools."""

from __future__ import annotations

import gzip
import json
import pickle

import tidemark
from tidemark import _tidemark
from tidemark._explain import source

_BUFFER_EVENTS = ("found", "allocate", "free", "change")
_FIRST_DEVICE_ROW = 1_000_000  # in Chrome's trace, behind those of threads


def _frames(place):
    file, line, function = source.parse_place(place)
    return [{"filename": source.full_path(file), "line": line, "name": function or "<module>"}]


def _events(path):
    """(Recording, its events one by one); names are known once the events are through."""
    names = _tidemark.Recording(path)
    while names.next() is not None:
        pass
    recording = _tidemark.Recording(path)

    def each():
        while (chunk := recording.next()) is not None:
            yield from chunk

    return names, each()


# --- PyTorch's memory snapshot, for memory_viz ------------------------------------------------


def pytorch_snapshot(path):
    """A dict as torch.cuda.memory._snapshot() gives; memory_viz opens its pickle."""
    names, events = _events(path)
    traces, alive, frames = {"": []}, {}, {}  # by device; the CPU is the first

    def frames_of(place):
        if place not in frames:
            frames[place] = _frames(names.place(place))
        return frames[place]

    def entry(action, at, size, time, place):
        return {"action": action, "addr": at, "size": size, "stream": 0, "time_us": time // 1000,
                "frames": frames_of(place)}  # fmt: skip

    for kind, time, buffer, value, place, _, _ in events:
        if kind not in _BUFFER_EVENTS:
            continue
        trace = traces.setdefault(names.device(place), [])
        if kind in ("found", "allocate"):
            alive[buffer] = (value, place)
            trace.append(entry("alloc", buffer, value, time, place))
        elif kind == "free" and buffer in alive:
            size, made = alive.pop(buffer)
            trace.append(entry("free_requested", buffer, size, time, made))
            trace.append(entry("free_completed", buffer, size, time, made))
    numbers = {device: number for number, device in enumerate(traces)}
    segments = []
    for at, (size, place) in sorted(alive.items()):
        block = {"address": at, "size": size, "requested_size": size, "state": "active_allocated",
                 "frames": frames_of(place)}  # fmt: skip
        segments.append({
            "device": numbers[names.device(place)], "address": at, "total_size": size,
            "allocated_size": size,
            "active_size": size, "requested_size": size, "stream": 0, "segment_type": "large",
            "segment_pool_id": (0, 0), "is_expandable": False, "frames": frames_of(place),
            "blocks": [block],
        })  # fmt: skip
    return {"segments": segments, "device_traces": [*traces.values()], "allocator_settings": {}}


def write_pytorch(path, output):
    """The snapshot, pickled."""
    snapshot = pytorch_snapshot(path)
    with open(output, "wb") as file:
        pickle.dump(snapshot, file)


# --- pprof ------------------------------------------------------------------------------------


def _varint(value):
    out = bytearray()
    value &= (1 << 64) - 1
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def _field(number, value):
    if isinstance(value, bytes):
        return _varint(number << 3 | 2) + _varint(len(value)) + value
    return _varint(number << 3) + _varint(value)


class _Pprof:
    """Builds the message that pprof reads."""

    def __init__(self):
        self._strings = {"": 0}
        self._locations = {}
        self._parts = []

    def text(self, value):
        return self._strings.setdefault(value, len(self._strings))

    def value_type(self, number, name, unit):
        self._parts.append(_field(number, _field(1, self.text(name)) + _field(2, self.text(unit))))

    def location(self, place):
        if place not in self._locations:
            number = self._locations[place] = len(self._locations) + 1
            file, line, function = source.parse_place(place)
            name = self.text(function or "<module>")
            path = self.text(source.full_path(file))
            self._parts.append(_field(5, _field(1, number) + _field(2, name) + _field(3, name)
                                      + _field(4, path)))  # fmt: skip
            where = _field(1, number) + _field(2, line)
            self._parts.append(_field(4, _field(1, number) + _field(4, where)))
        return self._locations[place]

    def sample(self, places, values, labels):
        packed = b"".join(_varint(self.location(p)) for p in places)
        numbers = b"".join(_varint(v) for v in values)
        named = b"".join(_field(3, _field(1, self.text(k)) + _field(2, self.text(v)))
                         for k, v in labels.items() if v)  # fmt: skip
        self._parts.append(_field(2, _field(1, packed) + _field(2, numbers) + named))

    def finish(self):
        strings = b"".join(_field(6, text.encode()) for text in self._strings)
        return gzip.compress(b"".join(self._parts) + strings)


def pprof(analysis):
    """A gzipped pprof profile: bytes and buffers at the end, at the peak, and all ever made."""
    out = _Pprof()
    for name, unit in (("inuse_objects", "count"), ("inuse_space", "bytes"),
                       ("peak_space", "bytes"), ("alloc_objects", "count"),
                       ("alloc_space", "bytes")):  # fmt: skip
        out.value_type(1, name, unit)
    for device, part in {"cpu:0": analysis, **analysis["devices"]}.items():
        for g in part["groups"]:
            values = [g["live_count"], g["live_bytes"], g["bytes_at_peak"], g["total_count"],
                      g["total_bytes"]]  # fmt: skip
            labels = {"op": g["op"], "holder": g["holder"], "device": device}
            out.sample([g["place"]], values, labels)
    return out.finish()


def write_pprof(path, output):
    """The profile of a recording."""
    data = pprof(_tidemark.analyse_recording(path))
    with open(output, "wb") as file:
        file.write(data)


# --- Chrome's and Perfetto's trace ------------------------------------------------------------


def chrome_events(path):
    """Trace events: ops as slices, memory as a counter, a flow from each buffer's birth to its end.

    A generator, so that a long recording takes no more memory than its live buffers.
    """
    names, events = _events(path)
    live, alive, rows = {}, {}, set()  # live: by device
    yield {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "tidemark"}}
    flow = 0
    for kind, time, buffer, value, place, op, holder in events:
        at = time / 1000
        if kind == "op":
            yield {"ph": "X", "pid": 1, "tid": buffer, "ts": at, "dur": value / 1000,
                   "name": names.op(op), "args": {"line": names.place(place)}}  # fmt: skip
        elif kind == "work":
            row = _FIRST_DEVICE_ROW + buffer
            if buffer not in rows:
                rows.add(buffer)
                yield {"ph": "M", "pid": 1, "tid": row, "name": "thread_name",
                       "args": {"name": names.text(buffer)}}  # fmt: skip
            yield {"ph": "X", "pid": 1, "tid": row, "ts": at, "dur": value / 1000,
                   "name": names.op(op), "args": {"line": names.place(place)}}  # fmt: skip
        elif kind in _BUFFER_EVENTS:
            size, number = alive.pop(buffer, (0, 0))
            device = names.device(place)
            live[device] = live.get(device, 0) - size
            if kind != "free":
                if not number:
                    flow += 1
                    number = flow
                    yield from _flow("s", number, at, names, place, value)
                alive[buffer] = (0 if holder & 0x80 else value, number)
                live[device] += alive[buffer][0]
            elif number:
                yield from _flow("f", number, at, names, place, size)
            counter = f"memory of {device}" if device else "memory"
            yield {"ph": "C", "pid": 1, "ts": at, "name": counter, "args": {"live": live[device]}}
        elif kind in ("step", "trace", "plan", "session"):
            yield {"ph": "i", "pid": 1, "tid": 0, "ts": at, "s": "p",
                   "name": f"{kind} {names.text(buffer)}".strip()}  # fmt: skip


def _flow(phase, number, at, names, place, size):
    """Flows join slices: a short one stands for the moment."""
    name = "allocate" if phase == "s" else "free"
    yield {"ph": "X", "pid": 1, "tid": 0, "ts": at, "dur": 0.1, "name": f"{name} {size} bytes",
           "args": {"line": names.place(place)}}  # fmt: skip
    event = {"ph": phase, "pid": 1, "tid": 0, "ts": at, "id": number, "cat": "buffer",
             "name": "buffer"}  # fmt: skip
    yield {**event, "bp": "e"} if phase == "f" else event


def write_chrome(path, output):
    """A JSON file that chrome://tracing and ui.perfetto.dev open."""
    with open(output, "w", encoding="utf-8") as file:
        file.write('{"displayTimeUnit":"ms","traceEvents":[\n')
        for number, event in enumerate(chrome_events(path)):
            file.write((",\n" if number else "") + json.dumps(event, separators=(",", ":")))
        file.write("\n]}\n")


# --- TensorBoard ------------------------------------------------------------------------------


def write_tensorboard(path, folder):
    """Scalars: live and idle bytes at each step, and those of the largest lines."""
    analysis = _tidemark.analyse_recording(path)
    writer = tidemark.summary.create_file_writer(str(folder))
    with writer.as_default():
        for device, part in {"": analysis, **analysis["devices"]}.items():
            _write_scalars(part, f" of {device}" if device else "")
    writer.close()


def _write_scalars(analysis, whose):
    steps = analysis["steps"]
    largest = [g for g in analysis["groups"] if g["at_samples"]][:10]
    for at, step in enumerate(steps["samples"]):
        tidemark.summary.scalar(f"memory{whose}/live", float(steps["live"][at]), step=step)
        tidemark.summary.scalar(f"memory{whose}/idle", float(steps["idle"][at]), step=step)
        for g in largest:
            name = f"memory{whose} by line/{g['place']} {g['op']} {g['holder']}"
            tidemark.summary.scalar(name, float(g["at_samples"][at]), step=step)


WRITERS = {
    "pytorch": write_pytorch, "pprof": write_pprof, "chrome": write_chrome,
    "tensorboard": write_tensorboard,
}  # fmt: skip


# --- moments ----------------------------------------------------------------------------------

TRACEMALLOC_DOMAIN = 0x7D3A_0001


def tracemalloc_snapshot():
    """The live buffers as a tracemalloc.Snapshot, in a domain of their own."""
    import tracemalloc  # loaded on first use

    traces = []
    for place, _, _, size, count, _ in _tidemark.live_groups():
        file, line, _ = source.parse_place(place)
        frame = ((source.full_path(file), line),)
        each, rest = divmod(size, count)
        traces += [(TRACEMALLOC_DOMAIN, each, frame, 1)] * (count - 1)
        traces.append((TRACEMALLOC_DOMAIN, each + rest, frame, 1))
    return tracemalloc.Snapshot(tuple(traces), 1)


def prometheus():
    """The counters in Prometheus's text format."""
    stats = _tidemark.stats()
    lines = [
        "# HELP tidemark_memory_bytes Bytes of the process by state; together its resident memory.",
        "# TYPE tidemark_memory_bytes gauge",
    ]
    for state in ("live", "planned", "retained", "not_ours"):
        lines.append(f'tidemark_memory_bytes{{state="{state}"}} {stats[state]}')
    lines += ["# HELP tidemark_holder_bytes Live bytes by why they live.",
              "# TYPE tidemark_holder_bytes gauge"]  # fmt: skip
    for use in _tidemark.holders():
        lines.append(f'tidemark_holder_bytes{{holder="{use["holder"]}"}} {use["live_bytes"]}')
    for name, key, kind, text in (
        ("resident_bytes", "resident", "gauge", "Resident memory of the process."),
        ("peak_bytes", "peak", "gauge", "Highest live bytes."),
        ("limit_bytes", "limit", "gauge", "Limit of tensor memory."),
        ("buffers", "live_buffers", "gauge", "Live buffers."),
        ("allocations_total", "allocations", "counter", "Allocations so far."),
    ):
        lines += [f"# HELP tidemark_{name} {text}", f"# TYPE tidemark_{name} {kind}",
                  f"tidemark_{name} {stats[key]}"]  # fmt: skip
    return "\n".join(lines) + "\n"

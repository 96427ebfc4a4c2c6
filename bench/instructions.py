"""Counts the instructions of the hot paths, which other work on the machine does not change.

    python bench/instructions.py -o before.json          # counts, printed and written
    python bench/instructions.py --against before.json   # and compared: at most 1.02 of before

Needs valgrind and its headers. Paths of Python run under callgrind on one thread, counted once they
are warm; the server runs twice, with few requests and with many, and the difference is counted.
Valgrind has no AVX-512, so kernels are those of AVX2.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from tidemark.cli.serve import program

HERE = Path(__file__).resolve().parent
# What is repeated, and how often: (set-up, round, rounds to warm up, rounds counted).
PATHS = {
    "a + b": ("a = tf.constant(1.0); b = tf.constant(2.0)", "a + b", 1_000, 5_000),
    "function of one op": (
        "f = tf.function(lambda x: x + 1.0); a = tf.constant(1.0)", "f(a)", 1_000, 5_000,
    ),
    "eager MLP step": ("step = models.training_step(tf, 'mlp')", "step()", 2, 2),
    "compiled GPT step": ("step = models.compiled_step(tf, 'gpt_small')", "step()", 10, 20),
}  # fmt: skip
MOST = 1.02
# One thread, and no search that goes on for a time.
STEADY = {"TIDEMARK_NUM_THREADS": "1", "TIDEMARK_PLAN_MILLISECONDS": "0", "PYTHONHASHSEED": "0"}
REQUEST = json.dumps({"instances": [[0.5] * 8]})


def counted(command, *options, work=None):
    """Instructions of a command; ``work(process)`` is done while it runs, and ends it."""
    environment = {**os.environ, **STEADY}
    callgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    process = subprocess.Popen(
        [*callgrind, *options, *command], cwd=HERE, env=environment, text=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    said = work(process) if work else ""
    said += process.communicate()[1]
    found = re.search(r"Collected : (\d+)", said)
    if not found:
        raise RuntimeError(f"{command[0]} was not counted:\n{said}")
    return int(found[1])


def counting_switch(folder):
    """A library whose functions switch the counting on and off."""
    source = Path(folder) / "switch.c"
    source.write_text(
        "#include <valgrind/callgrind.h>\n"
        "void on(void) { CALLGRIND_TOGGLE_COLLECT; }\n"
        "void off(void) { CALLGRIND_TOGGLE_COLLECT; }\n"
    )
    library = source.with_suffix(".so")
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source], check=True)
    return library


def of_python(setup, repeated, warm, rounds):
    with tempfile.TemporaryDirectory() as folder:
        code = (
            f"import ctypes, gc, tidemark as tf, models\n"
            f"switch = ctypes.CDLL({str(counting_switch(folder))!r})\n{setup}\n"
            f"def run(rounds):\n    for _ in range(rounds):\n        {repeated}\n"
            f"run({warm}); gc.collect(); gc.disable()\n"
            f"switch.on(); run({rounds}); switch.off()\n"
        )
        return counted([sys.executable, "-c", code], "--collect-atstart=no") / rounds


def of_request(few=100, many=600):
    """One :predict of a dense layer over a connection that is kept."""

    def asking(times):
        def work(process):
            said = ""
            while " ready on " not in said:
                line = process.stderr.readline()
                if not line:
                    return said
                said += line
            port = int(said.rstrip().rpartition(":")[2])
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            for _ in range(times):
                connection.request("POST", "/v1/models/dense:predict", REQUEST)
                connection.getresponse().read()
            connection.close()
            process.send_signal(signal.SIGTERM)
            return said

        return work

    with tempfile.TemporaryDirectory() as folder:
        code = (
            "import tidemark as tf\n"
            "w = tf.Variable(tf.ones((8, 3)))\n"
            "f = tf.function(lambda x: x @ w,"
            " input_signature=[tf.TensorSpec((None, 8), tf.float32, name='x')])\n"
            f"m = tf.Module(); m.w = w; m.f = f\n"
            f"tf.saved_model.save(m, {folder + '/dense/1'!r}, signatures=f)\n"
        )
        subprocess.run([sys.executable, "-c", code], check=True)
        serve = [str(program()), "--models", folder, "--port", "0", "--poll", "60"]
        return (counted(serve, work=asking(many)) - counted(serve, work=asking(few))) / (many - few)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, help="write the counts here")
    parser.add_argument("--against", type=Path, help="counts of before")
    options = parser.parse_args()
    before = json.loads(options.against.read_text()) if options.against else {}
    # What a first import leaves behind (compiled Python files) is there for all that is counted.
    subprocess.run([sys.executable, "-c", "import tidemark, models"], cwd=HERE, check=True)
    counts = {}
    for name in [*PATHS, "served request"]:
        counts[name] = of_python(*PATHS[name]) if name in PATHS else of_request()
        ratio = counts[name] / before[name] if name in before else None
        verdict = f"  {ratio:.4f} of before" if ratio else ""
        print(f"{name:20} {counts[name]:14,.0f} instructions{verdict}", flush=True)
    if options.output:
        options.output.write_text(json.dumps(counts, indent=2) + "\n")
    worse = [name for name in counts if name in before and counts[name] > MOST * before[name]]
    if worse:
        sys.exit(f"more than {MOST} of before: {', '.join(worse)}")


if __name__ == "__main__":
    main()

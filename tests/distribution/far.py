"""Workers that are far from each other: far.py [STEPS]. Needs root.

Four hosts in network namespaces, 100 ms from each other on a network that loses one packet in a
hundred, get where four workers of one host get, to the bit, and their memory stays flat.
"""

import sys
import tempfile
import time

import network
import series

HOSTS, DELAY, LOSS = 4, 0.1, 0.01


def run(steps, patience):
    """(seconds, packets sent, packets lost, largest growth of resident memory and of tensors)."""
    with tempfile.TemporaryDirectory() as folder:
        expected = series.undisturbed(folder, HOSTS, steps)
    more = {"TIDEMARK_SILENCE_SECONDS": "30", "TIDEMARK_JOIN_SECONDS": "60"}
    with (
        tempfile.TemporaryDirectory() as folder,
        network.Network(HOSTS, delay=DELAY, loss=LOSS) as net,
    ):
        began = time.monotonic()
        started = series.start(series.Hosts(net), folder, HOSTS, steps, **more)
        found = series.end(started, patience)
        seconds = time.monotonic() - began
    growth = [0, 0]
    for rank, (status, answer, errors) in enumerate(found):
        if status or answer["digest"] != expected:
            raise series.Fault(f"host {rank} ended with {status}: {errors[-2000:]}")
        half = len(answer["memory"]) // 2
        for k in (0, 1):
            values = [told[k + 1] for told in answer["memory"]]
            growth[k] = max(growth[k], max(values[half:]) - max(values[2:half]))
    return seconds, net.num_sent, net.num_lost, *growth


if __name__ == "__main__":
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    seconds, sent, lost, resident, tensors = run(steps, patience=max(120, steps))
    print(f"{steps} steps in {seconds:.0f} s over {HOSTS} hosts: the same bits as on one;")
    print(f"{lost} of {sent} packets lost; in the second half resident memory grew by "
          f"{resident / 1024:.0f} KiB, tensors by {tensors} bytes")  # fmt: skip

"""One fault of each kind, of the many that tests/distribution/series.py draws."""

import concurrent.futures
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "distribution"))
import network
import series


def test_faults_at_random_moments_are_survived():
    kinds = [kind for kind in series.KINDS if kind != "cut" or network.is_possible()]
    with concurrent.futures.ThreadPoolExecutor(len(kinds)) as pool:
        for seconds in pool.map(lambda kind: series.run(kind, [1]), kinds):
            assert max(seconds) < series.PATIENCE


@pytest.mark.skipif(not network.is_possible(), reason="needs root, for namespaces")
def test_the_network_between_hosts_delays_and_cuts_off():
    """Or the faults above would prove nothing."""
    with network.Network(2, delay=0.05) as net:

        def ping(count, wait):
            words = [sys.executable, "-c", PING, net.address(1), str(count), str(wait)]
            return net.start(0, words, stdout=series.subprocess.PIPE, text=True).communicate()[0]

        answering = net.start(1, [sys.executable, "-c", ANSWER])
        try:
            times = [float(seconds) for seconds in ping(3, 5.0).split()]
            assert len(times) == 3 and min(times) >= 0.1
            net.cut_off.add(1)
            assert ping(2, 0.3) == ""
        finally:
            answering.kill()
            answering.wait()


ANSWER = """
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("", 7))
while True:
    s.sendto(*s.recvfrom(100))
"""
PING = """
import socket, sys, time
host, count, wait = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(wait)
until = time.monotonic() + wait
while count > 0 and time.monotonic() < until:
    began = time.monotonic()
    s.sendto(b"x", (host, 7))
    try:
        s.recv(100)
    except OSError:
        continue  # nobody answers there, or not yet
    print(time.monotonic() - began)
    count -= 1
"""

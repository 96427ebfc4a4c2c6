"""Hosts in network namespaces of this machine, with a network between them that delays, loses and
cuts off: a device each, whose packets go through this process. Needs root.

with network.Network(4, delay=0.1, loss=0.01) as net:
    process = net.start(0, ["python", "train.py"], env)    # on the host 10.77.0.1
    net.cut_off.add(2)                                     # nothing reaches host 2 or leaves it
"""

import contextlib
import fcntl
import heapq
import os
import random
import select
import struct
import subprocess
import threading
import time

_SET_INTERFACE, _TUN, _NO_HEADER = 0x400454CA, 0x0001, 0x1000
_TO = slice(16, 20)  # where a packet says whom it is for


def is_possible():
    """Whether this process may make namespaces and devices."""
    if os.geteuid() != 0 or not os.path.exists("/dev/net/tun"):
        return False
    name = f"td{os.getpid()}p"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True)
    if made.returncode == 0:
        subprocess.run(["ip", "netns", "del", name], check=True)
    return made.returncode == 0


class Network:
    """``delay``: seconds one way. ``loss``: the part of the packets that do not arrive."""

    def __init__(self, count, delay=0.0, loss=0.0, seed=0):
        self.count, self.delay, self.loss = count, delay, loss
        self.cut_off = set()
        self.num_lost = self.num_sent = 0
        self._random = random.Random(seed)
        self._names = [f"td{os.getpid()}h{i}" for i in range(count)]
        self._devices, self._ends = [], threading.Event()
        self._thread = threading.Thread(target=self._carry, daemon=True)

    def address(self, host):
        return f"10.77.0.{host + 1}"

    def start(self, host, command, **options):
        """A process on that host."""
        return subprocess.Popen(["ip", "netns", "exec", self._names[host], *command], **options)

    def __enter__(self):
        try:
            for host, name in enumerate(self._names):
                self._add(host, name)
        except BaseException:
            self._remove()
            raise
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._ends.set()
        self._thread.join()
        self._remove()

    def _add(self, host, name):
        def ip(*words):
            subprocess.run(["ip", *words], check=True, capture_output=True)

        ip("netns", "add", name)
        device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        self._devices.append(device)
        asked = struct.pack("16sH", name.encode(), _TUN | _NO_HEADER)
        fcntl.ioctl(device, _SET_INTERFACE, asked)
        ip("link", "set", name, "netns", name)
        ip("-n", name, "addr", "add", f"{self.address(host)}/24", "dev", name)
        ip("-n", name, "link", "set", name, "up")
        ip("-n", name, "link", "set", "lo", "up")

    def _remove(self):
        for device in self._devices:
            os.close(device)
        for name in self._names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)

    def _carry(self):
        waiting, number = [], 0
        while not self._ends.is_set():
            now = time.monotonic()
            until = min(0.05, max(0.0, waiting[0][0] - now)) if waiting else 0.05
            ready, _, _ = select.select(self._devices, [], [], until)
            now = time.monotonic()
            for device in ready:
                for packet in _read(device):
                    number += 1
                    source = self._devices.index(device)
                    heapq.heappush(waiting, (now + self.delay, number, source, packet))
            while waiting and waiting[0][0] <= time.monotonic():
                _, _, source, packet = heapq.heappop(waiting)
                self._deliver(source, packet)

    def _deliver(self, source, packet):
        if packet[0] >> 4 != 4 or packet[_TO][:3] != bytes((10, 77, 0)):
            return
        target = packet[_TO][3] - 1
        self.num_sent += 1
        is_cut = source in self.cut_off or target in self.cut_off
        if is_cut or self._random.random() < self.loss:
            self.num_lost += 1
        elif target in range(self.count):
            with contextlib.suppress(BlockingIOError):
                os.write(self._devices[target], packet)


def _read(device):
    while True:
        try:
            yield os.read(device, 65536)
        except BlockingIOError:
            return

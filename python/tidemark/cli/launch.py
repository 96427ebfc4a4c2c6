"""tidemark launch: a program as several workers, on this machine or on others."""

from __future__ import annotations

import json
import os
import secrets
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time

from tidemark import cli
from tidemark.cli.files import write

ABOUT = "run a program as several workers (-n 4), or on other machines by ssh (--hosts a,b)"
RUNS_A_PROGRAM = True

_MOST_REPORT = 64 << 20  # bytes that a worker may tell
_GRACE = 10.0  # seconds in which the others may say that one is lost, and end by themselves


def add_arguments(parser):
    parser.add_argument("-n", "--workers", type=int, metavar="N", help="how many workers")
    parser.add_argument(
        "--hosts",
        metavar="HOST[:N],…",
        help="machines to run on, by ssh, with N workers each; Tidemark and the program have to be "
        "there under the same paths",
    )
    parser.add_argument("--port", type=int, default=2222, help="with --hosts: the first port")
    parser.add_argument(
        "--doctor",
        nargs="?",
        const="",
        metavar="FILE",
        help="tell at the end what memory each worker took, how long it waited for others, which "
        "is the slowest, and what is wrong; --doctor=page.html writes a page, --doctor=told.json "
        "plain values. What the program prints goes to the standard error",
    )
    parser.add_argument("program", nargs="*", help="script.py, or -m module, and its arguments")


def run(arguments):
    if not arguments.program:
        raise cli.InputError("name a program: tidemark launch -n 2 train.py")
    if arguments.doctor and not arguments.doctor.endswith((".html", ".json")):
        raise cli.InputError(f"--doctor={arguments.doctor}: a page ends in .html, values in .json")
    hosts = _hosts(arguments)
    workers = _addresses(hosts, arguments.port)
    secret = secrets.token_hex(32)
    started = []
    try:
        for rank, host in enumerate(hosts):
            config = {"cluster": {"worker": workers}, "task": {"type": "worker", "index": rank}}
            started.append(_Worker(rank, host, json.dumps(config), secret, arguments, len(hosts)))
        status = _wait(started)
        if arguments.doctor is not None:
            _tell(started, arguments)
        return status
    except KeyboardInterrupt:
        for worker in started:
            worker.stop(signal.SIGINT)
        _end(started)
        return 130
    finally:
        for worker in started:
            worker.stop(signal.SIGKILL)
            worker.finish()


def _tell(started, arguments):
    """What all workers told of themselves, as one."""
    from tidemark._explain import over_workers  # only reports need it

    for worker in started:
        worker.finish()
    told, silent = [], []
    for worker in started:
        try:
            told.append(json.loads(worker.answer.decode()))
        except ValueError:
            silent.append(str(worker.rank))
    if silent:
        print(f"tidemark launch: nothing was told by worker {', '.join(silent)}", file=sys.stderr)
    found = over_workers.together(told)
    if not found["workers"]:
        print("tidemark launch: no worker told that it was one of several", file=sys.stderr)
        return
    if arguments.doctor.endswith(".html"):
        write(arguments.doctor, over_workers.page(" ".join(arguments.program), found))
    elif arguments.doctor:
        write(arguments.doctor, json.dumps(found, indent=2))
    else:
        print(f"\n--- tidemark doctor {'-' * 60}\n{over_workers.text(found)}")


def _hosts(arguments):
    """The host of each worker; None: this machine."""
    if arguments.hosts is None:
        if arguments.workers is None or arguments.workers < 1:
            raise cli.InputError("say how many workers there are: -n 2")
        return [None] * arguments.workers
    hosts = []
    for one in arguments.hosts.split(","):
        host, _, count = one.strip().partition(":")
        if not host or host.startswith("-") or (count and not count.isdigit()):
            raise cli.InputError(f"--hosts takes names with commas between them, got {one!r}")
        hosts += [host] * int(count or 1)
    if arguments.workers not in (None, len(hosts)):
        raise cli.InputError(f"-n {arguments.workers}, but --hosts has {len(hosts)} places")
    return hosts


def _addresses(hosts, first_port):
    if hosts[0] is not None:
        return [f"{host}:{first_port + rank}" for rank, host in enumerate(hosts)]
    held = []
    for _ in hosts:
        held.append(socket.socket())
        held[-1].bind(("127.0.0.1", 0))
    found = [f"127.0.0.1:{s.getsockname()[1]}" for s in held]
    for one in held:
        one.close()
    return found


class _Worker:
    """One process, and the threads that pass on what it prints."""

    def __init__(self, rank, host, config, secret, arguments, count):
        self.rank = rank
        command = [sys.executable, "-m", "tidemark", *_words(arguments)]
        self.answer = b""
        environment = {"TF_CONFIG": config, "PYTHONUNBUFFERED": "1"}
        if host is None:
            if "TIDEMARK_NUM_THREADS" not in os.environ:
                each = max(1, len(os.sched_getaffinity(0)) // count)
                environment["TIDEMARK_NUM_THREADS"] = str(each)
            environment["TIDEMARK_SECRET"] = secret
            self.process = _start(command, {**os.environ, **environment})
            self.process.stdin.close()
        else:
            self.process = _start(_over_ssh(host, command, environment), None)
            # Not on the command line, where everybody on that machine can read it.
            self.process.stdin.write(secret.encode() + b"\n")
            self.process.stdin.close()
        self._threads = [
            threading.Thread(target=take, args=given, daemon=True)
            for take, *given in (
                (self._keep, self.process.stdout)
                if arguments.doctor is not None
                else (self._pass_on, self.process.stdout, sys.stdout),
                (self._pass_on, self.process.stderr, sys.stderr),
            )
        ]
        for thread in self._threads:
            thread.start()

    def _pass_on(self, source, target):
        for line in iter(source.readline, b""):
            target.write(f"[{self.rank}] {line.decode(errors='replace').rstrip()}\n")
            target.flush()

    def _keep(self, source):
        """The report, which is all that the standard output has; what is longer is cut, and then
        it is no report."""
        self.answer = source.read(_MOST_REPORT)
        while source.read(1 << 16):
            pass

    def stop(self, number):
        if self.process.poll() is None:
            self.process.send_signal(number)

    def finish(self):
        if self.process.stdout.closed:
            return
        self.process.wait()
        for thread in self._threads:
            thread.join(timeout=1.0)  # children of its own may still hold its output
        for stream in (self.process.stdout, self.process.stderr):
            stream.close()


def _words(arguments):
    """What each worker's command line says after ``tidemark``."""
    program = arguments.program
    if arguments.doctor is None:
        return program
    if program[0] == "-m":
        return ["doctor", "--json", *program[:2], "--", *program[2:]]
    return ["doctor", "--json", "--", *program]


def _start(command, environment):
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=pipe)


def _over_ssh(host, command, environment):
    words = " ".join(shlex.quote(word) for word in command)
    values = " ".join(f"{name}={shlex.quote(value)}" for name, value in environment.items())
    there = (
        f"read -r TIDEMARK_SECRET; export TIDEMARK_SECRET; "
        f"cd {shlex.quote(os.getcwd())} && exec env {values} {words}"
    )
    full = ["ssh", "-o", "BatchMode=yes", host, there]
    print("tidemark launch:", shlex.join(full), file=sys.stderr, flush=True)
    return full


def _wait(started):
    """Until all have ended, or one has failed; the exit status of the first that failed."""
    while True:
        codes = [worker.process.poll() for worker in started]
        failed = [worker for worker, code in zip(started, codes, strict=True) if code]
        if failed:
            code = failed[0].process.returncode
            how = f"was ended by signal {-code}" if code < 0 else f"ended with status {code}"
            print(f"tidemark launch: worker {failed[0].rank} {how}", file=sys.stderr, flush=True)
            _end(started)
            return 128 - code if code < 0 else code
        if all(code == 0 for code in codes):
            return cli.OK
        time.sleep(0.05)


def _end(started):
    """Gives all time to end by themselves, then ends them."""
    for number, seconds in ((None, _GRACE), (signal.SIGTERM, 2.0), (signal.SIGKILL, 2.0)):
        for worker in started:
            if number is not None:
                worker.stop(number)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if all(worker.process.poll() is not None for worker in started):
                return
            time.sleep(0.05)

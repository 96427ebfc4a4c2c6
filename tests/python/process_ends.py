"""Programs that end while much is alive, and how they must end: for every Python there is
(`test_process_end.py` for this one, `tools/wheels/check.py` for all). Imports nothing of ours."""

import subprocess
import textwrap
from pathlib import Path

START = """
import atexit, gc, os, signal, sys, threading, time, warnings, weakref
warnings.simplefilter("ignore")  # of a fork with threads alive
import numpy as np
import tidemark as tf

def leave_running(work, daemon=True):
    started = threading.Event()
    def loop():
        work()
        started.set()
        while daemon or not has_ended:
            work()
    threading.Thread(target=loop, daemon=daemon).start()
    started.wait()
    time.sleep(0.05)

has_ended = False

def compute():
    a = tf.random.normal([300, 300])
    return tf.matmul(a, a)

@tf.function
def staged(x):
    for _ in tf.range(100):
        x = x + 1.0
    return x

def give():
    while True:
        yield np.ones(1000, np.float32)

def pipeline():
    data = tf.data.Dataset.from_generator(give, output_signature=tf.TensorSpec([1000]))
    return iter(data.map(lambda t: t * 2, num_parallel_calls=2).prefetch(4))

def session():
    v1 = tf.compat.v1
    with v1.Graph().as_default():
        a = v1.placeholder(tf.float32, [300, 300])
        b = v1.matmul(a, a)
        made = v1.Session()
    given = np.ones((300, 300), np.float32)
    made.run(b, {a: given})
    return made, lambda: made.run(b, {a: given})

def after_the_end():
    '''The process outlives the interpreter by so many seconds as its status says, and a function
    of graphs that asks for Python after a second without its lock.'''
    import ctypes
    libc = ctypes.CDLL(None)
    libc.on_exit(libc.sleep, None)
    def products(first, times):
        a = b = first + tf.fill([1000, 1000], 0.001)
        for _ in range(times):
            b = tf.matmul(b, a)
        return b
    products(tf.constant(0.0), 1)
    began = time.perf_counter()
    products(tf.constant(0.0), 1)
    times = 1 + int(1 / (time.perf_counter() - began))

    @tf.function
    def asks_late(n):
        late = products(tf.cast(n, tf.float32) * 0.0, times)
        return tf.py_function(lambda t: t, [late], tf.float32)
    return asks_late

def everything():
    '''Of each kind one that is in use.'''
    variable = tf.Variable(compute())
    tape = tf.GradientTape(persistent=True)
    with tape:
        y = variable * 2.0
    iterator = pipeline()
    next(iterator)
    staged(tf.ones([200, 200]))
    return [variable, tape, y, iterator, session(), staged, compute().numpy(), compute()]
"""

# Name → the status it must end with, and the program.
PROGRAMS = {
    "all is alive": (0, """
        kept = everything()
    """),
    "all is alive in cycles": (0, """
        class Holder: pass
        holder = Holder()
        holder.self, holder.kept = holder, everything()
        del holder
    """),
    "all is alive in modules": (0, """
        import builtins
        builtins.kept = np.kept = everything()
    """),
    "sys.exit": (3, """
        kept = everything()
        leave_running(compute)
        sys.exit(3)
    """),
    "sys.exit in a thread": (0, """
        def end():
            compute()
            sys.exit(3)
        thread = threading.Thread(target=end)
        thread.start()
        thread.join()
    """),
    "os._exit": (4, """
        kept = everything()
        leave_running(compute)
        leave_running(lambda: staged(tf.ones([200, 200])))
        os._exit(4)
    """),
    "os._exit in a thread": (5, """
        kept = everything()
        threading.Thread(target=lambda: (compute(), os._exit(5))).start()
        while True:
            compute()
    """),
    "os.execv": (6, """
        kept = everything()
        leave_running(compute)
        os.execv(sys.executable, [sys.executable, "-c", "raise SystemExit(6)"])
    """),
    "an error": (1, """
        kept = everything()
        leave_running(compute)
        tf.ones([2]) + tf.ones([3])
    """),
    "threads that are waited for": (0, """
        kept = everything()
        leave_running(compute, daemon=False)
        threading.Timer(0.3, lambda: globals().update(has_ended=True)).start()
    """),
    "computing when told of the end": (0, """
        kept = everything()
        atexit.register(lambda: (compute(), staged(tf.ones([10])), next(kept[3]), kept[4][1]()))
        weakref.finalize(kept[5], compute)
        class Computes:
            def __del__(self):
                compute()
        computes = Computes()
        computes.self = computes
    """),
    "a fork that computes and exits": (0, """
        kept = everything()
        leave_running(compute)
        for end in (os._exit, sys.exit):
            child = os.fork()
            if child == 0:
                signal.alarm(60)
                a = tf.ones([1000, 1000])
                assert float(tf.matmul(a, a)[0, 0]) == 1000
                assert float(staged(tf.ones([10]))[0]) == 101
                assert next(iter(tf.data.Dataset.range(5).prefetch(2))).numpy() == 0
                end(0)
            assert os.waitpid(child, 0)[1] == 0
    """),
    "a fork that has its parent's pipeline": (0, """
        kept = everything()
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            try:
                next(kept[3])
            except tf.errors.FailedPreconditionError:
                kept.clear()  # the threads that it would wait for are its parent's
                gc.collect()
                assert next(pipeline()).shape == [1000]
                sys.exit(0)
            os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
        assert next(kept[3]).shape == [1000]
    """),
    "forks in a pool": (0, """
        import multiprocessing
        kept = everything()
        leave_running(compute)
        def work(i):
            return float(tf.reduce_sum(tf.ones([400, 400]) * float(i)))
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert pool.map(work, range(4)) == [160000.0 * i for i in range(4)]
    """),
    "a fork of a thread that computes": (0, """
        statuses = []
        def fork_and_wait():
            for _ in range(3):
                compute()
                child = os.fork()
                if child == 0:
                    signal.alarm(60)
                    compute()
                    os._exit(0)
                statuses.append(os.waitpid(child, 0)[1])
        threads = [threading.Thread(target=fork_and_wait) for _ in range(3)]
        for t in threads: t.start()
        for t in threads: t.join()
        assert statuses == [0] * 9, statuses
    """),
    "errors in callbacks": (0, """
        def fails(*_):
            raise KeyError("mine")
        for attempt in range(3):
            for work in (
                lambda: tf.py_function(fails, [tf.ones([3])], tf.float32),
                lambda: tf.function(lambda t: tf.py_function(fails, [t], tf.float32))(tf.ones([3])),
                lambda: tf.map_fn(fails, tf.ones([3])),
                lambda: next(iter(tf.data.Dataset.range(3).map(
                    lambda t: tf.py_function(fails, [t], tf.int64), num_parallel_calls=2))),
                lambda: next(iter(tf.data.Dataset.from_generator(
                    lambda: fails(), output_signature=tf.TensorSpec([])))),
                lambda: tf.custom_gradient(fails)(tf.ones([3])),
            ):
                try:
                    work()
                except (KeyError, tf.errors.OpError):
                    continue
                raise SystemExit("no error")
        compute()
    """),
    "errors when told of the end": (0, """
        kept = everything()
        sys.unraisablehook = lambda _: compute()
        class Fails:
            def __del__(self):
                compute()
                raise KeyError("mine")
        fails = Fails()
        fails.self, fails.kept = fails, kept
        weakref.finalize(kept[5], Fails)
    """),
    "errors in callbacks at the end": (0, """
        def fails(*_):
            time.sleep(0.001)
            raise KeyError("mine")
        def work():
            try:
                tf.py_function(fails, [tf.ones([3])], tf.float32)
            except (KeyError, tf.errors.OpError):
                pass
        leave_running(work)
        data = tf.data.Dataset.range(10**9).map(
            lambda t: tf.py_function(lambda u: u, [t], tf.int64), num_parallel_calls=2)
        data = iter(data.prefetch(8))
        leave_running(lambda: next(data))
    """),
    "watched and recorded": (0, """
        tf.memory.allow_watching()
        recording = tf.memory.record("events.recording")
        kept = everything()
        leave_running(compute)
        for end in (os._exit, sys.exit):
            child = os.fork()
            if child == 0:
                signal.alarm(60)
                compute()
                end(0)
            assert os.waitpid(child, 0)[1] == 0
    """),
    "pipelines that never give": (0, """
        def endless():
            return tf.data.Dataset.range(10**12).filter(lambda t: t < 0)
        kept = iter(endless().prefetch(2))
        waited_for = iter(endless().map(lambda t: t, num_parallel_calls=2))
        threading.Thread(target=lambda: next(waited_for), daemon=True).start()
        time.sleep(0.1)
    """),
    "Ctrl-C": (-2, """
        signal.signal(signal.SIGINT, signal.default_int_handler)
        kept = everything()
        leave_running(compute)
        threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        while True:
            tf.matmul(tf.ones([2000, 2000]), tf.ones([2000, 2000]))
    """),
    "SIGTERM": (-15, """
        kept = everything()
        leave_running(compute)
        threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGTERM)).start()
        while True:
            compute()
    """),
    "ops of daemon threads": (0, """
        x = tf.ones([400, 400])
        def work():
            global x
            x = x + 1
        leave_running(work)
    """),
    "several daemon threads": (0, """
        for _ in range(4):
            leave_running(compute)
    """),
    "functions of daemon threads": (0, """
        leave_running(lambda: staged(tf.ones([200, 200])))
    """),
    "variables of daemon threads": (0, """
        v = tf.Variable(tf.ones([300, 300]))
        leave_running(lambda: v.assign_add(tf.ones([300, 300])))
    """),
    "gradients of daemon threads": (0, """
        w = tf.Variable(tf.ones([200, 200]))
        def work():
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.matmul(w, w))
            w.assign_sub(1e-9 * tape.gradient(loss, w))
        leave_running(work)
    """),
    "Python inside of daemon threads": (0, """
        @tf.function
        def step(x):
            return tf.py_function(lambda t: t + 1, [x], tf.float32)
        leave_running(lambda: step(tf.ones([300, 300])))
    """),
    "datasets of daemon threads": (0, """
        data = pipeline()
        leave_running(lambda: next(data))
    """),
    "pipelines that ask for Python after the end": (2, """
        asks = after_the_end()
        data = tf.data.Dataset.range(10**9).map(asks, num_parallel_calls=2).prefetch(2)
        data = iter(data)
        threading.Thread(target=next, args=(data,), daemon=True).start()
        time.sleep(0.2)
        sys.exit(2)
    """),
    "a pipeline whose generator waits": (0, """
        def slowly():
            while True:
                yield np.ones(3, np.float32)
                time.sleep(0.5)
        data = tf.data.Dataset.from_generator(slowly, output_signature=tf.TensorSpec([3]))
        np.kept = iter(data.prefetch(2))  # modules let go of what they hold at the end
        next(np.kept)
    """),
    "asking at the end what a thread was asking": (0, """
        from functools import partial
        entered = threading.Event()
        def wait(t):
            entered.set()
            time.sleep(1)
            return t
        data = tf.data.Dataset.range(10**9).map(lambda t: tf.py_function(wait, [t], tf.int64))
        kept = iter(data)
        @tf.function
        def traced(x):
            wait(x)
            return x + 1
        class Asks:
            def __init__(self, ask):
                self.ask, self.refused = ask, (tf.errors.FailedPreconditionError, os._exit)
            def __del__(self):
                error, end = self.refused
                try:
                    self.ask()
                except error:
                    return
                end(7)
        given = tf.ones([2])
        for work in (partial(next, kept), partial(traced, given)):
            entered.clear()
            threading.Thread(target=work, daemon=True).start()
            entered.wait()
            asks = Asks(work)
            asks.self = asks
        del kept, traced
    """),
    "sessions of daemon threads": (0, """
        kept, work = session()
        leave_running(work)
    """),
}  # fmt: skip

# Those that may speak: an error that nobody caught.
SPEAK = {"an error", "Ctrl-C"}


def fault_of(python, name, folder):
    """What is wrong with how the program, a file in the folder, ends; None: nothing."""
    status, code = PROGRAMS[name]
    program = Path(folder) / "program.py"
    program.write_text(START + textwrap.dedent(code))
    try:
        done = subprocess.run(
            [python, program], capture_output=True, text=True, timeout=240, cwd=folder, check=False
        )
    except subprocess.TimeoutExpired:
        return f"{name}: it does not end"
    if done.returncode != status or (done.stderr and name not in SPEAK):
        return f"{name}: ended with {done.returncode}, not {status}\n{done.stderr[-2000:]}"
    return None

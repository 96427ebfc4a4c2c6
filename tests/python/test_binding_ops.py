"""Op functions: arguments, attributes, documentation; what stays of a call is nothing."""

import gc
import inspect
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest

from tidemark import _tidemark as tm

pytestmark = pytest.mark.unwatched

OPS = tm.op_functions()
ADD = OPS["tf.add"]


def resident():
    return tm.stats()["resident"]


def under_address_sanitizer():
    with open("/proc/self/maps") as maps:
        return any("libasan" in line for line in maps)


def test_positional_and_keyword_arguments():
    a = tm.convert([1.0, 2.0])
    for result in (ADD(a, a), ADD(x=a, y=a), ADD(a, y=a), ADD(a, a, name="sum"), ADD(a, a, None)):
        assert result.numpy().tolist() == [2.0, 4.0]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda a: ADD(a), r"add\(\) missing 1 required positional argument: 'y'"),
        (lambda a: ADD(), r"missing 1 required positional argument: 'x'"),
        (lambda a: ADD(a, a, None, a), r"add\(\) takes from 2 to 3 positional arguments but 4"),
        (lambda a: ADD(a, a, foo=1), r"add\(\) got an unexpected keyword argument 'foo'"),
        (lambda a: ADD(a, a, x=a), r"add\(\) got multiple values for argument 'x'"),
        (lambda a: tm.call("add", [a]), "takes 2 inputs but 1 were given"),
        (lambda a: tm.call("add", [a, a], {"foo": 1}), "unexpected attribute 'foo'"),
        (lambda a: tm.call("cast", [a]), "missing required attribute 'dtype'"),
        (lambda a: tm.call("cast", [a], {"dtype": "nonsense"}), "DType"),
        (lambda a: tm.call("cast", [a], {"dtype": object()}), "DType"),
        (lambda a: tm.call("sum", [a], {"axis": "x"}), "expected int or list of ints"),
        (lambda a: tm.call("sum", [a], {"axis": 1.5}), "expected int or list of ints"),
        (lambda a: tm.call("sum", [a], {"keepdims": "yes"}), "expected bool"),
    ],
)
def test_wrong_arguments(call, text):
    with pytest.raises(TypeError, match=text):
        call(tm.convert([1.0, 2.0]))


def test_unknown_ops():
    with pytest.raises(Exception, match="no op named 'nothing'"):
        tm.call("nothing", [])


def test_attributes_in_all_their_forms():
    a = tm.convert([[1.0, 2.0], [3.0, 4.0]])
    for axis in (1, [1], (1,), np.int64(1), np.array([1]), tm.convert(1), tm.convert([1]), -1):
        assert tm.call("sum", [a], {"axis": axis}).numpy().tolist() == [3.0, 7.0]
    assert tm.call("sum", [a], {"axis": None}).numpy() == 10.0
    assert tm.call("sum", [a], {"axis": 1, "keepdims": True})._shape_tuple() == (2, 1)
    for dtype in (3, "int32", np.int32, np.dtype("int32")):
        assert tm.call("cast", [a], {"dtype": dtype})._dtype_enum == 3
    assert tm.call("cast", [a], {"dtype": float})._dtype_enum == 1


def test_lists_of_tensors_nested_and_flat():
    a, b = tm.convert([1.0]), tm.convert([2.0])
    for inputs in ([a, b], [[a, b]], ([a, b],)):
        assert tm.call("stack", inputs, {"axis": 0}).numpy().tolist() == [[1.0], [2.0]]
    assert tm.call("concat", [[a, [5, 6]]], {"axis": 0}).numpy().tolist() == [1, 5, 6]


def test_several_outputs_come_as_a_list():
    parts = tm.call("unstack", [tm.convert([1, 2, 3])], {"num": 3})
    assert isinstance(parts, list)
    assert [int(p) for p in parts] == [1, 2, 3]


def test_signature_and_documentation():
    signature = inspect.signature(ADD)
    assert list(signature.parameters) == ["x", "y", "name"]
    assert signature.parameters["name"].default is None
    assert ADD.__name__ == "add" and ADD.__module__.startswith("tidemark")
    assert "x: `Tensor`" in ADD.__doc__
    assert ADD.__text_signature__ == "(x, y, name=None)"
    for function in OPS.values():
        inspect.signature(function)
        assert function.__doc__


def test_names_of_one_op_share_their_function():
    assert OPS["tf.add"] is OPS["tf.math.add"]


def test_functions_can_be_referred_to_weakly_and_take_attributes():
    assert weakref.ref(ADD)() is ADD
    ADD.note = "kept"
    assert ADD.note == "kept"
    del ADD.note


def test_schema_of_all_ops():
    schemas = {op["name"]: op for op in tm.list_ops()}
    assert schemas["add"]["elementwise"] is True
    assert [p["name"] for p in schemas["add"]["params"]] == ["x", "y"]
    named = {name for op in schemas.values() for name in op["python_names"]}
    assert named == set(OPS)


def test_errors_carry_their_class():
    script = (
        "from tidemark import _tidemark as tm\n"
        "class Invalid(Exception):\n"
        "    def __init__(self, node_def, op, message): super().__init__(message)\n"
        "tm.set_error_classes({3: Invalid})\n"
        "try: tm.convert([1., 2.]) + tm.convert([1., 2., 3.])\n"
        "except Invalid as e: print('caught', e)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.startswith("caught"), done


def test_an_error_keeps_no_tensor():
    before = tm.stats()["live_buffers"]
    for _ in range(10):
        try:
            tm.convert([1.0, 2.0]) + tm.convert([1.0, 2.0, 3.0])
        except Exception:
            assert tm.stats()["live_buffers"] == before


def test_failed_allocations_leave_nothing_behind():
    a = tm.convert([1.0, 2.0])
    gc.collect()  # what earlier tests left in cycles must not go meanwhile
    before = tm.stats()["live_buffers"]
    failures = 0
    for n in range(1, 6):
        tm.fail_allocation(n)
        try:
            result = (a * 2.0) + tm.convert([1, 2])
            assert result.numpy().tolist() == [3.0, 6.0]
            del result
        except Exception as error:
            failures += 1
            assert "allocating" in str(error)
            del error
        finally:
            tm.fail_allocation(0)
        assert tm.stats()["live_buffers"] == before
    assert failures >= 3


def test_calls_leave_nothing_behind():
    a = tm.convert([1.0, 2.0])
    numbers, mixed = [1, 2, 3], [1, 2.5]
    array = np.ones(3, dtype=np.float32)

    def work(count):
        for _ in range(count):
            b = a + a
            b = b * 2.0 - 1
            tm.convert(numbers)
            tm.convert(mixed)
            tm.convert(array, copy=False)
            b.numpy()
            b.shape  # noqa: B018
            ADD(a, y=b)
            tm.call("sum", (b,), {"axis": 0})

    work(2000)
    gc.collect()
    blocks, before, buffers = sys.getallocatedblocks(), resident(), tm.stats()["live_buffers"]
    references = [sys.getrefcount(x) for x in (None, True, tm.Tensor, a, array)]
    work(100_000)
    gc.collect()
    assert tm.stats()["live_buffers"] == buffers
    assert sys.getallocatedblocks() - blocks < 200
    if not under_address_sanitizer():  # which keeps freed memory for a while
        assert resident() - before < 2**20
    now = [sys.getrefcount(x) for x in (None, True, tm.Tensor, a, array)]
    assert all(abs(x - y) < 300 for x, y in zip(references, now, strict=True))


def test_threads_share_tensors_and_the_free_list():
    shared = tm.convert(np.arange(64, dtype=np.float32))
    big = tm.convert(np.ones(200_000, dtype=np.float32))
    wrong = []

    def work(seed):
        mine = tm.convert(np.full(64, seed, dtype=np.float32))
        for i in range(2000):
            if not np.array_equal((shared + mine).numpy(), np.arange(64, dtype=np.float32) + seed):
                wrong.append(seed)
            if i % 100 == 0 and (big * 2.0 + big).numpy()[-1] != 3:  # runs without the GIL
                wrong.append("big")

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_gil_is_free_while_kernels_run():
    big = tm.convert(np.ones(4_000_000, dtype=np.float32))
    ticks, stop = [0], threading.Event()

    def tick():
        while not stop.is_set():
            ticks[0] += 1
            time.sleep(0)  # asks for the lock again, and waits until somebody lets go of it

    thread = threading.Thread(target=tick)
    old = sys.getswitchinterval()
    sys.setswitchinterval(1000)  # only a released lock lets the other thread run
    try:
        thread.start()
        before = ticks[0]
        for _ in range(50):
            big + big
        during = ticks[0] - before
    finally:
        stop.set()
        sys.setswitchinterval(old)
        thread.join()
    assert during > 0

"""Measuring that something repeated does not grow the process."""

import ctypes
import gc
import itertools
import resource

import this_device

from tidemark import _tidemark

LARGEST_STEP = 256 * 1024
SMALLEST_CLIMB = 64 * 1024
SHARE_OF_A_THREAD = 64 * 1024
STACK_BYTES = resource.getrlimit(resource.RLIMIT_STACK)[0]
PAGE_BYTES = resource.getpagesize()
_C_LIBRARY = ctypes.CDLL(None)


def _memory_lines():
    """What the kernel counts page by page of this process: its lines of text, as KiB."""
    with open("/proc/self/smaps_rollup") as lines:
        next(lines)
        pairs = (line.split(":") for line in lines)
        return {name: int(value.split()[0]) for name, value in pairs}


def _mappings():
    """(first address, end, permissions, resident bytes) of each mapping of this process."""
    found = None
    with open("/proc/self/smaps") as lines:
        for line in lines:
            word = line.split(maxsplit=2)
            if word[0] == "Rss:":
                yield *found, int(word[1]) * 1024
            elif not word[0].endswith(":"):
                first, end = word[0].split("-")
                found = int(first, 16), int(end, 16), word[1]


def stack_pages():
    """Stacks of threads: how many there are, and the bytes of them that are resident. C's library
    maps each with a page below it that nobody may touch."""
    count = resident = 0
    for below, here in itertools.pairwise(_mappings()):
        is_guarded = (
            below[1] == here[0] and below[2] == "---p" and below[1] - below[0] == PAGE_BYTES
        )
        if is_guarded and here[2] == "rw-p" and here[1] - here[0] == STACK_BYTES:
            count += 1
            resident += here[3]
    return count, resident


def resident_bytes():
    """Resident memory of this process."""
    return _memory_lines()["Rss"] * 1024


def held_bytes():
    """Resident memory that is no part of a file, less what C's heap has free: how much of that it
    keeps for later depends on the order of requests, and planning under a budget moves it by
    megabytes from call to call. Tensor memory kept for the next request goes back, too: how many
    buffers a device's queue holds at once depends on who is given the processor, and 128 to 328 KiB
    of slabs were seen to come with one more than before (what may be kept is bounded, and
    test_memory holds the bound). Pages of files are libraries' code, which the kernel takes and
    brings back as it likes, as we do (TIDEMARK_IDLE_CODE). Cycles of Python's that wait for its
    collector are not held either. A thread counts alike whatever it has used of its stack: one of
    the pool gets its first piece of some work whenever the machine lets it, and 460 to 476 KiB
    were seen to become resident then."""
    _tidemark.wait_for_devices()  # a queue that waits is memory, too
    gc.collect()
    _tidemark.release_retained()
    _C_LIBRARY.malloc_trim(0)
    lines = _memory_lines()
    threads, of_stacks = stack_pages()
    everything = (lines["Anonymous"] + lines["Pss_Shmem"]) * 1024
    return everything - of_stacks + threads * SHARE_OF_A_THREAD


def slope(samples):
    """Bytes a sample by which they grow: the least-squares line through them."""
    count = len(samples)
    mean_x, mean_y = (count - 1) / 2, sum(samples) / count
    above = sum((x - mean_x) * (y - mean_y) for x, y in enumerate(samples))
    return above / sum((x - mean_x) ** 2 for x in range(count))


def growth(samples):
    """Bytes by which memory climbs over all samples, taken after equal windows."""
    return slope(samples) * (len(samples) - 1)


def take_samples(function, rounds, windows):
    samples = [held_bytes()]
    for _ in range(windows):
        for _ in range(rounds // windows):
            function()
        samples.append(held_bytes())
    return samples


def is_one_small_step(samples):
    """Whether memory rose once and by little: an arena of C's heap that a thread takes for its
    first request, or a stack that lies beside another mapping and is not told from it."""
    rises = [after - before for before, after in itertools.pairwise(samples)]
    most = max(rises)
    return most <= LARGEST_STEP and sum(rises) - most <= SMALLEST_CLIMB


def assert_flat(function, rounds, allowed=256 * 1024, windows=8, warm_up=None):
    """Calls ``function`` many times; live tensor bytes must return to where they were, and
    resident memory, sampled after equal windows once it is warm, must not climb. After one small
    step all is measured again.

    ``allowed`` is the growth in bytes over all rounds below which a slope is noise.
    """
    for _ in range(rounds // 10 if warm_up is None else warm_up):
        function()
    gc.collect()
    live = this_device.live()
    samples = take_samples(function, rounds, windows)
    if growth(samples) >= allowed and is_one_small_step(samples):
        samples = take_samples(function, rounds, windows)
    assert this_device.live() == live, "tensors are still alive after the rounds"
    grown = growth(samples)
    assert grown < allowed, (
        f"resident memory grows by {grown / 1024:.0f} KiB over {rounds} rounds: "
        f"{[s // 1024 for s in samples]} KiB"
    )

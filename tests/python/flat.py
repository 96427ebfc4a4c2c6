"""Measuring that something repeated does not grow the process."""

import ctypes
import gc
import itertools

import this_device

from tidemark import _tidemark

# One step of up to this many bytes is no climb. After a compilation the pages of our libraries'
# code are unmapped (TIDEMARK_IDLE_CODE); what runs again is mapped 64 KiB at a time, also much
# later, where a way is taken for the first time since. In /proc/self/smaps it is libtidemark.so's
# r-xp mapping that grows: by 830 KiB of 900 with the calls after a compilation, which warming up
# covers, and by 192 to 256 KiB with a report printed thousands of calls later.
CODE_COMING_BACK = 256 * 1024
_C_LIBRARY = ctypes.CDLL(None)


def resident_bytes():
    """Resident memory of this process, as the kernel counts it page by page."""
    with open("/proc/self/smaps_rollup") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("Rss:")) * 1024


def held_bytes():
    """Resident memory less what C's heap has free: how much of that it keeps for later depends on
    the order of requests, and planning under a budget moves it by megabytes from call to call.
    Cycles of Python's that wait for its collector are not held either."""
    gc.collect()
    _C_LIBRARY.malloc_trim(0)
    return resident_bytes()


def slope(samples):
    """Bytes a sample by which they grow: the least-squares line through them."""
    count = len(samples)
    mean_x, mean_y = (count - 1) / 2, sum(samples) / count
    above = sum((x - mean_x) * (y - mean_y) for x, y in enumerate(samples))
    return above / sum((x - mean_x) ** 2 for x in range(count))


def without_code_coming_back(samples):
    """The samples less the largest step among them, as far as pages of code can have made it."""
    rises = [after - before for before, after in itertools.pairwise(samples)]
    at = rises.index(max(rises)) + 1
    dropped = min(rises[at - 1], CODE_COMING_BACK)
    return [*samples[:at], *(s - dropped for s in samples[at:])]


def growth(samples):
    """Bytes by which resident memory climbs over all samples, taken after equal windows."""
    return min(slope(samples), slope(without_code_coming_back(samples))) * (len(samples) - 1)


def assert_flat(function, rounds, allowed=256 * 1024, windows=8, warm_up=None):
    """Calls ``function`` many times; live tensor bytes must return to where they were, and
    resident memory, sampled after equal windows once it is warm, must not climb.

    ``allowed`` is the growth in bytes over all rounds below which a slope is noise.
    """
    for _ in range(rounds // 10 if warm_up is None else warm_up):
        function()
    samples = [held_bytes()]
    live = this_device.live()
    for _ in range(windows):
        for _ in range(rounds // windows):
            function()
        _tidemark.wait_for_devices()  # a queue that waits is memory, too
        samples.append(held_bytes())
    assert this_device.live() == live, "tensors are still alive after the rounds"
    grown = growth(samples)
    assert grown < allowed, (
        f"resident memory grows by {grown / 1024:.0f} KiB over {rounds} rounds: "
        f"{[s // 1024 for s in samples]} KiB"
    )

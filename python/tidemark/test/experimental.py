"""``tf.test.experimental``."""

from tidemark import _tidemark


def sync_devices():
    """Waits for all devices; work on the processor has ended when its call returns."""
    _tidemark.wait_for_devices()

"""``tf.test.experimental``."""


def sync_devices():
    """Waits for all devices; work on the processor has ended when its call returns."""

"""``tensorflow.python.util.tf_export``: helpers from the checkout export nothing."""


class tf_export:
    def __init__(self, *args, **kwargs):
        pass

    def __call__(self, of):
        return of

    def export_constant(self, *args):
        pass

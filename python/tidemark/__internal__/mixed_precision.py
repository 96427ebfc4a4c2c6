"""``tf.__internal__.mixed_precision``."""


def register_loss_scale_wrapper(optimizer_cls, wrapper_fn, wrapper_cls=None):
    """Graphs are not rewritten to lower precision, so no optimizer is wrapped."""


def is_mixed_precision_graph_rewrite_enabled():
    return False

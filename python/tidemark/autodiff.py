"""``tf.autodiff``: gradient tapes and forward-mode derivatives."""

from tidemark._forward import ForwardAccumulator
from tidemark._gradients import GradientTape

__all__ = ["ForwardAccumulator", "GradientTape"]

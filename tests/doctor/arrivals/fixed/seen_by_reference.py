import tensorflow as tf


def views(count):
    """Augmented images; some are handed out twice."""
    for number in range(count):
        view = tf.image.flip_left_right(tf.random.uniform([32, 32, 4]))
        yield view
        if number % 90 == 0:
            yield view


def main():
    last, total = None, 0.0
    for view in views(180):
        if view is last:
            continue
        last = view
        total += float(tf.reduce_mean(view))
    return total


print(main() > 0)

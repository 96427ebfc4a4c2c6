import weakref

import tensorflow as tf


class Page:
    def __init__(self, number):
        self.number = number
        self.block = tf.cos(tf.random.normal([100, 100]))


class Pages:
    """Finds pages that somebody still uses."""

    def __init__(self):
        self.by_number = weakref.WeakValueDictionary()
        self.alive = []

    def get(self, number):
        page = self.by_number.get(number)
        if page is None:
            page = Page(number)
            self.by_number[number] = page
            self.alive = [page]
        return page


pages = Pages()
for step in range(110):
    mean = float(tf.reduce_mean(pages.get(step).block))
    again = pages.get(step).number
print(len(pages.by_number) > 0)

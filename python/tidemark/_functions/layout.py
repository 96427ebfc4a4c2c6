"""Places boxes in layers, each below those it needs: a small layered layout of graphs.

Nothing is drawn by chance: the same boxes and edges give the same places.
"""

from __future__ import annotations

from typing import NamedTuple

GAP_X, GAP_Y = 18.0, 34.0
_BEND_WIDTH = 6.0
_ROUNDS = 8


class Placed(NamedTuple):
    """``at``: the middle of each box. ``routes``: by edge, the points it passes on its way."""

    at: list
    routes: list
    width: float
    height: float


def place(sizes, edges, gap=GAP_Y):
    """Places boxes of these (width, height); an edge (i, j) has i < j and leads down. ``gap`` is
    what layers are apart."""
    if not sizes:
        return Placed([], [], 0.0, 0.0)
    layers_of = _layers(len(sizes), edges)
    net = _Net(sizes, edges, layers_of)
    net.order()
    xs = net.coordinates()
    bands = _bands(sizes, layers_of, gap)
    left = min(x - w / 2 for x, (w, _) in zip(xs, net.sizes, strict=True))
    right = max(x + w / 2 for x, (w, _) in zip(xs, net.sizes, strict=True))
    xs = [x - left for x in xs]
    at = [(xs[i], sum(bands[layers_of[i]]) / 2) for i in range(len(sizes))]
    routes = []
    for i, j in edges:
        # Straight through the layers and bent between them, so that no box is crossed.
        route = [(xs[i], bands[layers_of[i]][1])]
        for bend in net.bends_of((i, j)):
            top, bottom = bands[net.layer[bend]]
            route += [(xs[bend], top), (xs[bend], bottom)]
        routes.append([*route, (xs[j], bands[layers_of[j]][0])])
    return Placed(at, routes, right - left, bands[-1][1])


def _layers(count, edges):
    """The longest way from above; what nothing leads to stands right above its first user."""
    above, below = [[] for _ in range(count)], [[] for _ in range(count)]
    for i, j in edges:
        above[j].append(i)
        below[i].append(j)
    layer = [0] * count
    for i in range(count):
        layer[i] = max((layer[j] + 1 for j in above[i]), default=0)
    for i in range(count):
        if not above[i] and below[i]:
            layer[i] = min(layer[j] for j in below[i]) - 1
    lowest = min(layer)
    return [at - lowest for at in layer]


def _bands(sizes, layers_of, gap):
    """Where each layer begins and ends."""
    tallest = [0.0] * (max(layers_of) + 1)
    for (_, height), layer in zip(sizes, layers_of, strict=True):
        tallest[layer] = max(tallest[layer], height)
    bands, top = [], 0.0
    for height in tallest:
        bands.append((top, top + height))
        top += height + gap
    return bands


class _Net:
    """Boxes and bends: an edge that passes layers has a bend in each, shared by all edges of its
    source, so that neighbours in the net are always in neighbouring layers."""

    def __init__(self, sizes, edges, layers_of):
        self.sizes, self.layer = list(sizes), list(layers_of)
        self.above = [[] for _ in sizes]
        self.below = [[] for _ in sizes]
        self._bends = {}  # (source, layer) → bend
        for i, j in sorted(edges, key=lambda e: (e[0], layers_of[e[1]], e[1])):
            last = i
            for layer in range(layers_of[i] + 1, layers_of[j]):
                last = self._bend(i, layer, last)
            self._join(last, j)
        self.rows = [[] for _ in range(max(self.layer) + 1)]
        for i, layer in enumerate(self.layer):
            self.rows[layer].append(i)
        self.place_in_row = [0] * len(self.layer)
        self._count_rows()

    def _bend(self, source, layer, last):
        known = self._bends.get((source, layer))
        if known is None:
            known = self._bends[source, layer] = len(self.sizes)
            self.sizes.append((_BEND_WIDTH, 0.0))
            self.layer.append(layer)
            self.above.append([])
            self.below.append([])
            self._join(last, known)
        return known

    def _join(self, upper, lower):
        if upper not in self.above[lower]:
            self.below[upper].append(lower)
            self.above[lower].append(upper)

    def bends_of(self, edge):
        i, j = edge
        return [self._bends[i, layer] for layer in range(self.layer[i] + 1, self.layer[j])]

    def _count_rows(self):
        for row in self.rows:
            for at, i in enumerate(row):
                self.place_in_row[i] = at

    def order(self):
        """Puts each beside its neighbours above, then below, as long as edges cross less."""
        self._begin()
        best, fewest = [list(row) for row in self.rows], self._crossings()
        for turn in range(_ROUNDS):
            down = turn % 2 == 0
            neighbours = self.above if down else self.below
            for row in self.rows if down else reversed(self.rows):
                keys = {}
                for i in row:
                    places = sorted(self.place_in_row[n] for n in neighbours[i])
                    keys[i] = sum(places) / len(places) if places else self.place_in_row[i]
                row.sort(key=lambda i, keys=keys: (keys[i], self.place_in_row[i]))
                for at, i in enumerate(row):
                    self.place_in_row[i] = at
            crossings = self._crossings()
            if crossings < fewest:
                best, fewest = [list(row) for row in self.rows], crossings
            if fewest == 0:
                break
        self.rows = best
        self._count_rows()

    def _begin(self):
        """In the order in which a walk from above meets them."""
        seen, met = set(), []
        for start in sorted(range(len(self.layer)), key=lambda i: (self.layer[i], i)):
            todo = [start]
            while todo:
                i = todo.pop()
                if i in seen:
                    continue
                seen.add(i)
                met.append(i)
                todo.extend(reversed(self.below[i]))
        self.rows = [[] for _ in self.rows]
        for i in met:
            self.rows[self.layer[i]].append(i)
        self._count_rows()

    def _crossings(self):
        total = 0
        for row in self.rows:
            ends = []
            for i in row:
                ends.extend(sorted(self.place_in_row[j] for j in self.below[i]))
            total += _inversions(ends)
        return total

    def coordinates(self):
        """As near to the middle of the neighbours as the order and the widths allow."""
        xs = [0.0] * len(self.sizes)
        for row in self.rows:
            x = 0.0
            for i in row:
                xs[i] = x + self.sizes[i][0] / 2
                x += self.sizes[i][0] + GAP_X
            for i in row:
                xs[i] -= (x - GAP_X) / 2
        for turn in range(2 * _ROUNDS):
            for row in self.rows if turn % 2 == 0 else reversed(self.rows):
                self._settle(row, xs, turn)
        return xs

    def _settle(self, row, xs, turn):
        wanted, weights, offsets = [], [], []
        offset = 0.0
        for at, i in enumerate(row):
            if at:
                offset += (self.sizes[row[at - 1]][0] + self.sizes[i][0]) / 2 + GAP_X
            neighbours = self.above[i] if turn % 2 == 0 else self.below[i]
            if turn >= _ROUNDS:
                neighbours = self.above[i] + self.below[i]
            want = sum(xs[n] for n in neighbours) / len(neighbours) if neighbours else xs[i]
            wanted.append(want - offset)
            weights.append(len(neighbours) * (4.0 if self.sizes[i][1] == 0 else 1.0) or 0.1)
            offsets.append(offset)
        for i, value, offset in zip(row, _rising(wanted, weights), offsets, strict=True):
            xs[i] = value + offset


def _rising(wanted, weights):
    """The numbers nearest to those wanted, none below the one before it."""
    blocks = []  # (mean, weight, count)
    for value, weight in zip(wanted, weights, strict=True):
        count = 1
        while blocks and blocks[-1][0] > value:
            mean, other, more = blocks.pop()
            value = (value * weight + mean * other) / (weight + other)
            weight, count = weight + other, count + more
        blocks.append((value, weight, count))
    return [mean for mean, _, count in blocks for _ in range(count)]


def _inversions(values):
    """How many pairs stand in the wrong order."""
    if len(values) < 2:
        return 0
    middle = len(values) // 2
    left, right = values[:middle], values[middle:]
    total = _inversions(left) + _inversions(right)
    left.sort()
    right.sort()
    at = 0
    for value in right:
        while at < len(left) and left[at] <= value:
            at += 1
        total += len(left) - at
    return total

"""Small graphs of TensorFlow 1's kind. Each gives tensors and operations whose names programs ask
for; ``tools/record_graphs.py`` records what they are called in TensorFlow."""

from __future__ import annotations

PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


@program
def operators(tf):
    x, y = tf.placeholder(tf.float32, [2], name="x"), tf.placeholder(tf.float32, [2], name="y")
    return [x + y, x - y, x * y, x / y, -x, x**y, abs(x), x < y, x >= y, x // y, x % y, x + 1.0]


@program
def placeholders(tf):
    return [tf.placeholder(tf.float32), tf.placeholder(tf.int32, [2]), tf.constant(1.0),
            tf.constant(2.0), tf.constant([1, 2], name="two"),
            tf.placeholder_with_default(3.0, [], name="d")]  # fmt: skip


@program
def functions_of_one(tf):
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    names = "exp log sqrt square tanh sigmoid negative abs sign floor ceil round sin cos erf lgamma"
    functions = [getattr(tf, name, None) or getattr(tf.math, name) for name in names.split()]
    return [function(x) for function in functions] + [tf.math.rsqrt(x), tf.math.log1p(x)]


@program
def functions_of_two(tf):
    x, y = tf.placeholder(tf.float32, [2], name="x"), tf.placeholder(tf.float32, [2], name="y")
    return [tf.add(x, y), tf.subtract(x, y), tf.multiply(x, y), tf.divide(x, y), tf.maximum(x, y),
            tf.minimum(x, y), tf.pow(x, y), tf.math.squared_difference(x, y), tf.less(x, y),
            tf.equal(x, y), tf.not_equal(x, y), tf.greater_equal(x, y), tf.truediv(x, y),
            tf.math.floordiv(x, y)]  # fmt: skip


@program
def given_names(tf):
    x = tf.placeholder(tf.float32, [2, 2], name="x")
    a = tf.matmul(x, x, name="product")
    b = tf.add(a, x, name="total")
    c = tf.nn.relu(b, name="out")
    d = tf.reduce_mean(c, name="mean")
    e = tf.reshape(c, [4], name="flat")
    f = tf.concat([x, x], 0, name="both")
    g = tf.identity(f, name="same")
    h = tf.cast(x, tf.int32, name="whole")
    i = tf.nn.softmax(x, name="probabilities")
    j = tf.argmax(x, 1, name="best")
    k = tf.add(a, x, name="total")
    return [x, a, b, c, d, e, f, g, h, i, j, k]


@program
def reductions(tf):
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    b = tf.placeholder(tf.bool, [2, 3], name="b")
    return [tf.reduce_sum(x), tf.reduce_mean(x, 1), tf.reduce_max(x), tf.reduce_min(x, 0),
            tf.reduce_prod(x, 0), tf.reduce_any(b, 1), tf.reduce_all(b), tf.argmax(x, 1),
            tf.argmin(x, 0), tf.reduce_sum(x, 0, True), tf.reduce_logsumexp(x, 1)]  # fmt: skip


@program
def shapes(tf):
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    return [tf.reshape(x, [6]), tf.transpose(x), tf.transpose(x, [1, 0]), tf.expand_dims(x, 0),
            tf.squeeze(tf.expand_dims(x, -1), [2]), tf.shape(x), tf.size(x), tf.rank(x),
            tf.concat([x, x], 1), tf.stack([x, x]), tf.unstack(x)[1], tf.split(x, 3, 1)[0],
            tf.tile(x, [1, 2]), tf.pad(x, [[1, 1], [0, 0]]), tf.gather(x, [0]), x[0], x[:, 1:],
            tf.slice(x, [0, 0], [1, 1]), tf.zeros_like(x), tf.ones_like(x),
            tf.where(x > 0, x, -x)]  # fmt: skip


@program
def makers(tf):
    return [tf.zeros([2]), tf.ones([2, 2]), tf.fill([2], 3.0), tf.range(5), tf.one_hot([0, 1], 3),
            tf.eye(2), tf.linspace(0.0, 1.0, 3)]  # fmt: skip


@program
def random_numbers(tf):
    return [tf.random_normal([2]), tf.random_uniform([2]), tf.truncated_normal([2]),
            tf.random_normal([3], name="noise"), tf.random_uniform([2], name="u"),
            tf.random_shuffle(tf.zeros([3]))]  # fmt: skip


@program
def matrices(tf):
    x = tf.placeholder(tf.float32, [2, 2], name="x")
    z = tf.placeholder(tf.float32, [4, 2, 2], name="z")
    return [tf.matmul(x, x), tf.matmul(x, x, transpose_b=True), tf.matmul(z, z),
            tf.tensordot(x, x, 1), tf.einsum("ij,jk->ik", x, x), tf.linalg.inv(x),
            tf.linalg.det(x), tf.linalg.diag_part(x), tf.matmul(x, x)]  # fmt: skip


@program
def neural(tf):
    x = tf.placeholder(tf.float32, [2, 8, 8, 3], name="x")
    w = tf.placeholder(tf.float32, [3, 3, 3, 4], name="w")
    b = tf.placeholder(tf.float32, [4], name="b")
    conv = tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME")
    biased = tf.nn.bias_add(conv, b)
    return [conv, biased, tf.nn.relu(biased),
            tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "VALID"),
            tf.nn.avg_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "VALID"), tf.nn.elu(x),
            tf.nn.leaky_relu(x), tf.nn.softplus(x), tf.nn.softsign(x), tf.nn.relu6(x),
            tf.nn.selu(x), tf.nn.tanh(x), tf.nn.sigmoid(x),
            tf.nn.conv2d(x, w, [1, 2, 2, 1], "VALID", name="second")]  # fmt: skip


@program
def softmaxes(tf):
    logits = tf.placeholder(tf.float32, [2, 3], name="logits")
    labels = tf.placeholder(tf.float32, [2, 3], name="labels")
    classes = tf.placeholder(tf.int32, [2], name="classes")
    return [tf.nn.softmax(logits), tf.nn.log_softmax(logits), tf.nn.l2_loss(logits),
            tf.nn.softmax_cross_entropy_with_logits_v2(labels, logits),
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=classes, logits=logits),
            tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits),
            tf.nn.softmax_cross_entropy_with_logits_v2(labels, logits, name="loss")]  # fmt: skip


@program
def scopes(tf):
    x = tf.placeholder(tf.float32, [2], name="x")
    out = []
    for _ in range(2):
        with tf.name_scope("layer"):
            out.append(x + x)
            with tf.name_scope("inner") as full:
                out.append(tf.square(x, name="squared"))
    with tf.name_scope(full):
        out.append(tf.exp(x))
    with tf.name_scope(None):
        out.append(tf.exp(x))
    with tf.name_scope("layer"):
        out.append(tf.exp(x))
    return out


@program
def variables(tf):
    v = tf.Variable(1.0)
    w = tf.Variable([1.0, 2.0], name="w")
    again = tf.Variable(2.0, name="w")
    return [v.op, w.op, again.op, w.initializer, v.initializer]


@program
def variable_scopes(tf):
    out = []
    with tf.variable_scope("a"):
        v = tf.get_variable("v", [2])
        out += [v.op, tf.exp(tf.placeholder(tf.float32, [2], name="p"))]
        with tf.variable_scope("b"):
            out += [tf.get_variable("v", [2]).op, tf.constant(1.0)]
    with tf.variable_scope("a", reuse=True):
        out += [tf.get_variable("v", [2]).op, tf.constant(2.0)]
    with tf.variable_scope(None, "auto"):
        out += [tf.get_variable("v", [2]).op, tf.constant(2.0)]
    with tf.variable_scope(None, "auto"):
        out += [tf.get_variable("v", [2]).op]
    return out


@program
def assignments(tf):
    v = tf.Variable([1.0, 2.0], name="v")
    return [tf.group(v.initializer), tf.no_op(), tf.group(v.initializer, name="both"),
            tf.global_variables_initializer(), tf.no_op(name="nothing")]  # fmt: skip


@program
def descent(tf):
    w = tf.get_variable("w", [3, 1])
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w)), name="loss")
    return [loss, tf.train.GradientDescentOptimizer(0.1).minimize(loss)]


@program
def adam(tf):
    w = tf.get_variable("w", [3])
    loss = tf.reduce_sum(tf.square(w), name="loss")
    optimizer = tf.train.AdamOptimizer(0.1)
    step = optimizer.minimize(loss)
    slots = [optimizer.get_slot(w, name).op for name in optimizer.get_slot_names()]
    return [step, *slots, *(v.op for v in tf.global_variables())]


@program
def momentum(tf):
    w = tf.get_variable("w", [3])
    loss = tf.reduce_sum(tf.square(w), name="loss")
    step = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, name="train")
    return [step, *(v.op for v in tf.global_variables())]


@program
def mean_squared(tf):
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    y = tf.placeholder(tf.float32, [2, 3], name="y")
    return [tf.losses.mean_squared_error(x, y), tf.losses.absolute_difference(x, y),
            tf.losses.mean_squared_error(x, y, scope="mine")]  # fmt: skip


@program
def cross_entropies(tf):
    logits = tf.placeholder(tf.float32, [2, 3], name="logits")
    labels = tf.placeholder(tf.float32, [2, 3], name="labels")
    classes = tf.placeholder(tf.int32, [2], name="classes")
    return [tf.losses.softmax_cross_entropy(labels, logits),
            tf.losses.sparse_softmax_cross_entropy(classes, logits),
            tf.losses.sigmoid_cross_entropy(labels, logits)]  # fmt: skip


@program
def moments(tf):
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    mean, variance = tf.nn.moments(x, [0])
    s = tf.placeholder(tf.float32, [3], name="s")
    return [mean, variance, tf.nn.batch_normalization(x, mean, variance, s, s, 1e-3)]


@program
def clipping(tf):
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    clipped, norm = tf.clip_by_global_norm([x, x], 1.0)
    return [tf.clip_by_value(x, 0.0, 1.0), tf.clip_by_norm(x, 1.0), norm, clipped[0]]


@program
def dropped(tf):
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    return [tf.nn.dropout(x, rate=0.5), tf.nn.dropout(x, rate=0.5, name="later")]


@program
def embeddings(tf):
    table = tf.get_variable("table", [10, 4])
    ids = tf.placeholder(tf.int32, [3], name="ids")
    return [tf.nn.embedding_lookup(table, ids), tf.nn.embedding_lookup(table, ids, name="words")]


@program
def casts(tf):
    x = tf.placeholder(tf.float32, [2], name="x")
    return [tf.cast(x, tf.int32), tf.to_float(tf.cast(x, tf.int64)), tf.stop_gradient(x),
            tf.identity(x), tf.is_nan(x), tf.logical_not(x > 0), tf.logical_and(x > 0, x < 1),
            tf.cast(x, tf.float64, name="double"), tf.bitcast(x, tf.int32)]  # fmt: skip


@program
def sorting(tf):
    x = tf.placeholder(tf.float32, [5], name="x")
    return [tf.nn.top_k(x, 2)[0], tf.nn.in_top_k(tf.zeros([2, 3]), [0, 1], 1), tf.unique(x)[0],
            tf.cumsum(x), tf.reverse(x, [0]), tf.boolean_mask(x, x > 0)]  # fmt: skip


@program
def accuracy(tf):
    logits = tf.placeholder(tf.float32, [None, 3], name="logits")
    classes = tf.placeholder(tf.int64, [None], name="classes")
    right = tf.equal(tf.argmax(logits, 1), classes)
    return [right, tf.reduce_mean(tf.cast(right, tf.float32), name="accuracy")]


@program
def added(tf):
    x = tf.placeholder(tf.float32, [2], name="x")
    return [tf.add_n([x, x]), tf.add_n([x, x], name="sum"), tf.nn.l2_normalize(x, 0),
            tf.norm(x), tf.accumulate_n([x, x])]  # fmt: skip


@program
def control(tf):
    x = tf.placeholder(tf.float32, [2], name="x")
    first = tf.identity(x, name="first")
    with tf.control_dependencies([first]):
        second = tf.identity(x)
    return [first, second, tf.tuple([x, x])[0]]


@program
def counters(tf):
    step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(0.1, step, 10, 0.9)
    return [step.op, rate]

"""SciKeras: a Keras model as a scikit-learn classifier, in a pipeline and cross-validated."""

import keras
import numpy as np
from scikeras.wrappers import KerasClassifier
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

keras.utils.set_random_seed(0)
draw = np.random.default_rng(0)
x = draw.normal(size=(150, 4)).astype("float32") * 3 + 1
y = (x @ np.array([1.0, -2.0, 0.5, 0.0]) > 0).astype(int)


def build(meta):
    model = keras.Sequential([
        keras.Input((meta["n_features_in_"],)),
        keras.layers.Dense(8, activation="relu"),
        keras.layers.Dense(1, activation="sigmoid"),
    ])  # fmt: skip
    model.compile(keras.optimizers.Adam(0.03), "binary_crossentropy")
    return model


classifier = make_pipeline(StandardScaler(), KerasClassifier(build, epochs=15, verbose=0))
scores = cross_val_score(classifier, x, y, cv=3)
assert scores.mean() > 0.8, scores
classifier.fit(x, y)
assert (classifier.predict(x) == y).mean() > 0.9

"""Inputs of the networks: their shapes, and example arrays."""

NETWORKS = {
    "magika": {"bytes": ("int32", lambda n: (n, 2048))},
    "basic-pitch": {"serving_default_input_2:0": ("float32", lambda n: (n, 43844, 1))},
    "recogniser": {"x": ("float32", lambda n: (n, 3, 48, 320))},
    "direction": {"x": ("float32", lambda n: (n, 3, 48, 192))},
    "voice": {"input": ("float32", lambda n: (n, 576)), "state": ("float32", lambda n: (2, n, 128))},
    "minilm": {"ids": ("int64", lambda n: (n, 128)), "mask": ("float32", lambda n: (n, 128)), "positions": ("int64", lambda n: (128,))},
    "digits": {"x": ("float32", lambda n: (n, 1, 8, 8))},
    "transformer": {"tokens": ("int32", lambda n: (n, 8)), "mask": ("float32", lambda n: (1, 1, 8, 8))},
}
"""Inputs of the networks: element type, and shape for a batch."""
NETWORKS |= {f"{name}-int8": NETWORKS[name] for name in ("digits", "minilm")}
VALUES = {"voice": {"sr": 16000}}
"""Inputs that are constants of the compiled model."""
TOKENS = {"transformer": 12}
"""Numbers of tokens, where there are fewer than 256."""


def shapes(name, batch):
    """Returns the shapes of a network's inputs by their names."""
    return {key: shape(batch) for key, (_, shape) in NETWORKS[name].items()}


def arrays(name, batch):
    """Returns an array for each input: numbers that are valid tokens and bytes, or random floats."""
    import numpy as np

    random, found = np.random.default_rng(7), {}
    for key, (dtype, shape) in NETWORKS[name].items():
        if key == "positions":
            found[key] = np.arange(128)
        elif key == "mask":
            found[key] = np.ones(shape(batch), dtype)
        elif dtype.startswith("int"):
            found[key] = random.integers(0, TOKENS.get(name, 256), shape(batch)).astype(dtype)
        else:
            found[key] = 0.1 * random.standard_normal(shape(batch)).astype(dtype)
    return found


def constants(name):
    """Returns the inputs that are constants of the compiled model, as arrays."""
    import numpy as np

    return {key: np.array(value) for key, value in VALUES.get(name, {}).items()}

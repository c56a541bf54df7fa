"""Writes data.h: inputs, constants and numpy's outputs of the model in this folder.

All numbers are small multiples of 1/8, so that sums are exact in float32 in any order: outputs are compared for equality.
usage: python3 reference.py >data.h
"""

import numpy as np

ROWS, WIDTH, OUTPUTS = 3, 16, 4
random = np.random.RandomState(8)


def numbers(*shape):
    return (random.randint(-16, 17, shape) / 8).astype("float32")


x, a, b, w = numbers(ROWS, WIDTH), numbers(WIDTH), numbers(WIDTH), numbers(OUTPUTS, WIDTH)
hidden = np.maximum(x[:, None, :] * a[None, :, None] + b, 0)
expected = np.einsum("rij,kj->rk", hidden, w)

print("/* data.h: by reference.py. */\n#ifndef DATA_H_\n#define DATA_H_\n")
print(f"enum {{ ROWS = {ROWS}, WIDTH = {WIDTH}, OUTPUTS = {OUTPUTS}, HIDDEN = {WIDTH * WIDTH} }};\n")
for name, shape, array in [
    ("model_x", "[ROWS][WIDTH]", x),
    ("model_a", "[WIDTH]", a),
    ("model_b", "[WIDTH]", b),
    ("model_w", "[OUTPUTS][WIDTH]", w),
    ("model_expected", "[ROWS][OUTPUTS]", expected),
]:
    rows = array.reshape(-1, array.shape[-1])
    lines = [", ".join(f"{float(number)}f" for number in row) for row in rows]
    content = ",\n    ".join(f"{{{line}}}" if array.ndim > 1 else line for line in lines)
    print(f"static const float {name}{shape} = {{\n    {content}}};\n")
print("#endif /* DATA_H_ */")

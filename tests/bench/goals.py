"""The goal of each operation, a ratio of times, and the floors that forbid some goals."""

import re

# The first pattern that matches counts; what matches none is meant to be no slower than upstream.
GOALS = [
    (r"call_error_(cstr|lib)", 0.10),
    (r"json_write|repr|dtype_print", 0.12),
    (r"json_parse", 0.33),
    (r"graph_|object_(to|from)_json", 0.2),
    (r"global_(get|miss)(_lib|/)|type_key_|type_attr_column", 0.25),
    (r"list_insert_erase", 0.05),
    (r"array_new/1000|array_get|list_append", 0.4),
    (r"struct_|recursive_|deep_copy|object_(hash|equal)|type_register", 0.3),
    (r"map_|dict_", 0.7),
    (r"string/7|stream_|type_info|init_once", 0.5),
    (r"load: (process that loads it, elapsed|first call)", None),
    (r"load: ", 0.25),
]


def goal(row):
    """The ratio that an operation is meant to reach, or None."""
    return next((ratio for pattern, ratio in GOALS if re.match(pattern, row["op"])), 1.0)


def floor_ratio(row):
    """The ratio that the floor itself has, below which nobody comes."""
    return row["floor"] / row["theirs"] if row["floor"] and row["theirs"] else None


def is_missed(row):
    """Whether a ratio, as it is printed, is above its goal."""
    return bool(row["ratio"] and goal(row) and round(row["ratio"], 2) > goal(row))


def is_forbidden(row):
    """Whether an operation misses a goal that lies below its floor."""
    floor = floor_ratio(row)
    return is_missed(row) and floor is not None and round(floor, 2) > goal(row)

"""Goals: the ratio that each operation should reach, and operations whose floor prevents it."""

import re

# The first matching pattern applies; without one, the goal is to be no slower than upstream.
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
    """Return the ratio that an operation should reach, or None."""
    return next((ratio for pattern, ratio in GOALS if re.match(pattern, row["op"])), 1.0)


def floor_ratio(row):
    """Return the floor's own ratio, the lowest possible one."""
    return row["floor"] / row["theirs"] if row["floor"] and row["theirs"] else None


def is_missed(row):
    """Return whether a ratio, as printed, is above its goal."""
    return bool(row["ratio"] and goal(row) and round(row["ratio"], 2) > goal(row))


def is_forbidden(row):
    """Return whether an operation misses its goal and its floor misses it, too."""
    floor = floor_ratio(row)
    return is_missed(row) and floor is not None and round(floor, 2) > goal(row)

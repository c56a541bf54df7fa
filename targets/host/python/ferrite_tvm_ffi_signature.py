"""Signatures of functions from the metadata that their library has: `(x: 'Tensor([m, n], float32)', factor: 'float' = 2, /)`.

The metadata has the signature as a string, or the types of parameters and result alone (`type_schema`). Functions of tvm_ffi take no
keywords, so all parameters are positional.
"""

from __future__ import annotations

import ast
import inspect

Parameter = inspect.Parameter


def of_metadata(metadata: dict, core) -> inspect.Signature | None:
    """Return the signature that metadata describes; None if it describes none."""
    text = metadata.get("signature")
    if isinstance(text, str):
        return of_text(text)
    schema = metadata.get("type_schema")
    return of_schema(core.TypeSchema.from_json_str(schema)) if isinstance(schema, str) else None


def of_text(text: str) -> inspect.Signature | None:
    """Return the signature that `name(parameters) -> result` describes; None if its parameters have other forms than Python's."""
    _, _, rest = text.partition("(")
    inside, _, result = split_at_end(rest)
    returns = result.strip().removeprefix("->").strip() if result.strip().startswith("->") else Parameter.empty
    try:
        return inspect.Signature([parameter(part) for part in parts_of(inside, ",")], return_annotation=returns)
    except ValueError:  # a name that is no identifier, or a default before a parameter without one
        return None


def split_at_end(text: str) -> tuple[str, str, str]:
    """Split behind the parenthesis that closes the parameters."""
    depth = 1
    for index, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if depth == 0:
            return text[:index], letter, text[index + 1 :]
    return text, "", ""


def parts_of(text: str, separator: str) -> list[str]:
    """Split at each separator outside of brackets and strings."""
    parts, depth, quote = [""], 0, ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        depth += 0 if quote else (letter in "([{") - (letter in ")]}")
        if letter == separator and depth == 0 and not quote:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def parameter(text: str) -> inspect.Parameter:
    """Return the parameter that `name: annotation = default` describes."""
    named, *default = parts_of(text, "=")
    name, _, annotation = named.partition(":")
    if not name.strip("* "):
        raise ValueError("a parameter has no name")  # CPython before 3.12 raises an IndexError
    kind = Parameter.VAR_POSITIONAL if name.startswith("*") else Parameter.POSITIONAL_ONLY
    return Parameter(
        name.lstrip("*").strip(),
        kind,
        default=literal(default[0]) if default else Parameter.empty,
        annotation=annotation.strip() or Parameter.empty,
    )


def literal(text: str):
    """Return the value that text denotes; the text itself if it is not a literal of Python."""
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return text


def of_schema(schema) -> inspect.Signature | None:
    """Return the signature that a TypeSchema describes; None if it has no parameters, known or not."""
    named = getattr(schema, "named_args", None)
    types = [*named.get("return", ()), *named["params"]] if named and "params" in named else list(schema.args or ()) if named is None else []
    if not types:
        return None
    result, *parameters = types
    return inspect.Signature(
        [Parameter(f"arg{index}", Parameter.POSITIONAL_ONLY, annotation=repr(one)) for index, one in enumerate(parameters)],
        return_annotation=repr(result),
    )

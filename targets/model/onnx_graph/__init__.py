"""Rewrites an ONNX model into one that TVM imports: static shapes, folded constants, operators that TVM has."""

from onnx import checker, inliner, version_converter

from failure import Failure
from onnx_graph import inputs, operators
from onnx_graph.fold import Folder

OLDEST = 13
"""Operator set to which older models are converted: TVM lacks some operators of those before."""

NAMED_CONSTANTS = 4
"""Version of the file format from which constants need not be inputs."""


def prepared(model, shapes, values, supported):
    """Returns a rewritten copy of a model.

    `shapes` has the shapes of inputs, and sizes of named axes; `values` the constants that replace inputs; `supported`
    the operators that TVM imports.
    """
    try:
        return rewritten(model, shapes, values, supported)
    except Failure:
        raise
    except Exception as error:  # noqa: BLE001 - a graph that is not valid may have any part missing
        raise Failure(f"the ONNX model is not valid: {reason(model) or repr(error)}") from error


def reason(model):
    """Returns the first finding of ONNX's checker, or an empty string."""
    try:
        checker.check_model(model)
    except Exception as error:  # noqa: BLE001 - its classes depend on the version
        return str(error).strip().splitlines()[0]
    return ""


def rewritten(model, shapes, values, supported):
    supported = {*supported} - operators.OTHERS
    model = inputs.fixed(model, shapes, values)
    if model.functions:
        model = inliner.inline_local_functions(model)
    model = upgraded(model)
    # In older files each constant is an input, too.
    model.ir_version = max(model.ir_version, NAMED_CONSTANTS)
    Folder(model, supported).run()
    operators.check(model, supported)
    return model


def upgraded(model):
    """Returns the model in a newer operator set, if it is old and ONNX can convert it."""
    version = next((opset.version for opset in model.opset_import if opset.domain in ("", "ai.onnx")), OLDEST)
    if version >= OLDEST:
        return model
    try:
        return version_converter.convert_version(model, OLDEST)
    except Exception:  # noqa: BLE001 - it raises errors of many classes; TVM may import the model as it is
        return model

"""Makes values of tvm_ffi picklable, so that they travel between processes: tensors, containers of tensors, modules and functions.

`install` is called once tvm_ffi is imported. Tensors, whose class is immutable, get a reducer in `copyreg`, which pickle,
cloudpickle, multiprocessing, joblib, dask and Ray consult. What the installed release pickles itself is left alone.

A tensor travels as its elements in row-major order, the name of its data type and its shape. With protocol 5 the elements are an
out-of-band buffer: no copy is made of a compact tensor, and the receiver uses the memory that it is given in place.
"""

from __future__ import annotations

import copyreg
import ctypes
import math
import pickle

import ferrite_tvm_ffi  # noqa: F401 - activates the library in a process that unpickles before it imports tvm_ffi
import ferrite_tvm_ffi_modules as modules

# Devices whose memory the processor reads: the CPU, memory pinned by CUDA or ROCm, and managed
# memory of CUDA.
HOST_DEVICES = (1, 3, 11, 13)
OPAQUE_HANDLE = 3
# Alignment that compiled kernels expect of a tensor's data.
ALIGNMENT = 64
READ_ONLY = 1

# The additions to tvm_ffi, and why one was left out (None if it was not).
INSTALLED: dict[str, str | None] = {}


class DLTensor(ctypes.Structure):
    """The C record DLTensor."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class DLManagedTensorVersioned(ctypes.Structure):
    """The C record DLManagedTensorVersioned."""

    _fields_ = (
        ("version", ctypes.c_uint32 * 2),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", DLTensor),
    )


def managed(capsule, name: bytes, record):
    """Return the C record in a DLPack capsule, which is valid while the capsule lives."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    return record.from_address(pointer(capsule, name))


class Memory:
    """Bytes that travel: out of band with protocol 5, in the pickle with earlier ones."""

    def __init__(self, content) -> None:
        self.content = content

    def __reduce_ex__(self, protocol):
        return bytes_of, (pickle.PickleBuffer(self.content) if protocol >= 5 else bytes(self.content),)

    def __deepcopy__(self, memo):
        return Memory(bytearray(self.content))


def bytes_of(content):
    """Return the buffer that a `Memory` became."""
    return content


class Elements:
    """Array interface to the memory of a tensor, which it keeps alive."""

    def __init__(self, tensor, view: DLTensor, shape, strides, width: int, flags: int) -> None:
        self.tensor = tensor
        self.__array_interface__ = {
            "data": ((view.data or 0) + view.byte_offset, bool(flags & READ_ONLY)),
            "shape": shape,
            "strides": strides,
            "typestr": f"|V{width}",
            "version": 3,
        }


def numpy():
    """Return NumPy, through whose memory tensors travel."""
    try:
        import numpy  # noqa: PLC0415, ICN001 - needed for tensors only
    except ImportError:
        raise TypeError("tensors are pickled through NumPy, which is missing: pip install numpy") from None
    return numpy


def byte_count(shape, bits: int, lanes: int) -> int:
    """Return the number of bytes of a compact tensor; elements of less than a byte are packed."""
    return (math.prod(shape) * bits * lanes + 7) // 8


def compact_strides(shape) -> tuple[int, ...]:
    """Return the strides of a compact tensor, in elements."""
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


def elements_of(tensor):
    """Return the elements of a tensor in row-major order as an array of bytes: its own memory if it is compact."""
    if not tensor.__chandle__():
        raise TypeError("a tensor that a caller lends to a callback cannot be pickled: pickle a copy")
    capsule = tensor.__dlpack__(max_version=(1, 0))
    record = managed(capsule, b"dltensor_versioned", DLManagedTensorVersioned)
    view, shape = record.tensor, tensor.shape
    if view.device_type not in HOST_DEVICES:
        raise TypeError(f"a tensor on {tensor.device} cannot be pickled: copy it to the CPU first")
    bits = view.bits * view.lanes
    if view.code == OPAQUE_HANDLE or bits == 0:
        raise TypeError(f"a tensor of {tensor.dtype} cannot be pickled: its elements mean nothing in another process")
    count = byte_count(shape, view.bits, view.lanes)
    if count == 0:
        return numpy().empty(0, "u1")
    compact = compact_strides(shape)
    found = tuple(view.strides[: view.ndim]) if view.strides else compact
    if all(extent == 1 or one == other for extent, one, other in zip(shape, found, compact)):
        return numpy().asarray(Elements(tensor, view, (count,), None, 1, record.flags)).view("u1")
    if bits % 8:
        raise TypeError(f"a tensor of {tensor.dtype} that is not compact cannot be pickled: its elements share bytes")
    strides = tuple(stride * bits // 8 for stride in found)
    strided = numpy().asarray(Elements(tensor, view, shape, strides, bits // 8, record.flags))
    return numpy().ascontiguousarray(strided).reshape(-1).view("u1")


def reduce_tensor(tensor):
    """Reducer of tensors."""
    return tensor_of, (Memory(elements_of(tensor)), str(tensor.dtype), tuple(tensor.shape))


def tensor_of(memory, dtype: str, shape):
    """Return the tensor over the bytes in `memory`, which is used in place if it is aligned, and copied otherwise.

    The tensor is read-only if the memory is. Raises a ValueError or TypeError for a data type, a shape or a size that do not fit.
    """
    import tvm_ffi  # noqa: PLC0415 - after the library

    if not isinstance(dtype, str) or not isinstance(shape, tuple) or not all(type(extent) is int for extent in shape):
        raise TypeError("a pickled tensor has a data type and a shape of integers")
    kind = tvm_ffi.dtype(dtype)
    is_shared = isinstance(memory, Memory)  # copy.copy passes what is to be pickled
    content = memoryview(memory.content if is_shared else memory).cast("B")
    if any(not 0 <= extent < 1 << 63 for extent in shape) or kind.bits * kind.lanes == 0 or kind.type_code == OPAQUE_HANDLE:
        raise ValueError(f"no pickled tensor has the data type {dtype} and the shape {shape}")
    expected = byte_count(shape, kind.bits, kind.lanes)
    if len(content) != expected:
        raise ValueError(f"a pickled tensor of {dtype} and the shape {shape} has {len(content)} bytes, not {expected}")
    if is_shared and len(content):
        return imported(numpy().frombuffer(content, "u1"), kind, shape)
    return imported(aligned(content, in_place=not isinstance(memory, bytes)), kind, shape)


def aligned(content: memoryview, in_place: bool):
    """Return an array over aligned bytes: the given ones, or a copy, which is read-only if they are, but for those of a pickle."""
    np = numpy()
    given = np.frombuffer(content, "u1") if len(content) else np.empty(0, "u1")
    is_read_only = not given.flags.writeable
    if in_place and given.ctypes.data % ALIGNMENT == 0 and not (is_read_only and exports_no_read_only()):
        return given
    room = np.empty(len(content) + ALIGNMENT, "u1")
    start = -room.ctypes.data % ALIGNMENT
    copy = room[start : start + len(content)]
    copy[:] = given
    copy.flags.writeable = not (in_place and is_read_only) or exports_no_read_only()
    return copy


def exports_no_read_only() -> bool:
    """Return whether NumPy is earlier than 2.1, whose DLPack cannot say that an array is read-only."""
    return tuple(int(number) for number in numpy().__version__.split(".")[:2]) < (2, 1)


def imported(flat, kind, shape):
    """Return a tensor over an array of bytes, with a data type and a shape that NumPy may not have."""
    from tvm_ffi import core  # noqa: PLC0415 - after the library

    # NumPy manages the memory. The record that it exports, which is this function's until it is
    # imported, gets the right type.
    stand_in = flat.reshape((1,) * (len(shape) - 1) + (-1,)) if shape else flat[:1].reshape(())
    if flat.flags.writeable:
        capsule = stand_in.__dlpack__()
        view = managed(capsule, b"dltensor", DLTensor)
    else:
        capsule = stand_in.__dlpack__(max_version=(1, 0))
        view = managed(capsule, b"dltensor_versioned", DLManagedTensorVersioned).tensor
    view.code, view.bits, view.lanes = kind.type_code, kind.bits, kind.lanes
    for axis, (extent, stride) in enumerate(zip(shape, compact_strides(shape))):
        view.shape[axis] = extent
        if view.strides:
            view.strides[axis] = stride
    return core.from_dlpack(capsule)


def reduce_container(original):
    """Return a container's method `__reduce__`: as a JSON graph, as before, or element by element if that has no representation."""

    def __reduce__(self):
        try:
            return original(self)
        except TypeError:
            return container_of, (type(self), distinct(list(self.items()) if hasattr(self, "items") else list(self)))

    return __reduce__


def distinct(values: list) -> list:
    """Return the values with one Python object for each object of the ABI, so that what is shared stays shared."""
    seen = {}

    def one(value):
        if isinstance(value, tuple):
            return tuple(map(one, value))
        return seen.setdefault(value.__chandle__(), value) if hasattr(value, "__chandle__") else value

    return list(map(one, values))


def container_of(kind, values):
    return kind(dict(values) if hasattr(kind, "items") else values)


def accept_read_only(original):
    """Return tvm_ffi's `from_dlpack`, extended to read-only arrays, of which it makes read-only tensors."""

    def from_dlpack(ext_tensor, *, require_alignment=0, require_contiguous=False):
        options = {"require_alignment": require_alignment, "require_contiguous": require_contiguous}
        try:
            return original(ext_tensor, **options)
        except BufferError:
            if (capsule := read_only_capsule(ext_tensor)) is None:
                raise
        return original(capsule, **options)

    from_dlpack.__doc__ = original.__doc__
    return from_dlpack


def read_only_capsule(ext_tensor):
    """Return the capsule of an array in the form of DLPack that can say that it is read-only; None if it has no such capsule."""
    try:
        capsule = ext_tensor.__dlpack__(max_version=(1, 0))
        record = managed(capsule, b"dltensor_versioned", DLManagedTensorVersioned)
    except (AttributeError, BufferError, TypeError, ValueError):
        return None
    return capsule if record.flags & READ_ONLY else None


def install(tvm_ffi) -> None:
    """Make the values of tvm_ffi picklable that the installed release does not pickle; fill INSTALLED."""
    for name, part in PARTS.items():
        try:
            INSTALLED[name] = part(tvm_ffi)
        except AttributeError as error:
            INSTALLED[name] = f"tvm_ffi differs: {error}"


def install_tensors(tvm_ffi) -> str | None:
    core = tvm_ffi.core
    if "__reduce__" in vars(core.Tensor) or core.Tensor in copyreg.dispatch_table:
        return "tvm_ffi pickles them"
    set_class = core._set_class_tensor

    def set_class_tensor(cls):
        if cls.__reduce__ is core.Tensor.__reduce__:
            copyreg.pickle(cls, reduce_tensor)
        set_class(cls)

    copyreg.pickle(core.Tensor, reduce_tensor)
    core._set_class_tensor = set_class_tensor
    return None


def install_containers(tvm_ffi) -> str | None:
    found = [getattr(tvm_ffi, name) for name in ("Array", "List", "Map", "Dict") if hasattr(tvm_ffi, name)]
    if any("__reduce__" in vars(cls) for cls in found):
        return "tvm_ffi pickles them"
    for cls in found:
        cls.__reduce__ = reduce_container(cls.__reduce__)
    return None


def install_read_only(tvm_ffi) -> str | None:
    accepting = accept_read_only(tvm_ffi.core.from_dlpack)
    for module in (tvm_ffi.core, tvm_ffi._tensor, tvm_ffi):
        module.from_dlpack = accepting
    return None


PARTS = {
    "pickled tensors": install_tensors,
    "pickled containers of tensors": install_containers,
    "pickled modules": modules.install_modules,
    "pickled functions": modules.install_functions,
    "read-only arrays in from_dlpack": install_read_only,
}

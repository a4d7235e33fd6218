"""NVIDIA PTX kernels on any Vulkan device.

>>> import array, ptx2spv
>>> device = ptx2spv.Device("reference")  # without a name: the best one here
>>> module = device.load(ptx2spv.EXAMPLE)
>>> numbers = device.array(array.array("f", [1, 2, 3, 4]))
>>> module["scale"][1, 4](numbers, 0.5, 4)  # [grid, block], then the kernel's parameters
>>> numbers.tolist()
[0.5, 1.0, 1.5, 2.0]

Arrays come from everything that has Python's buffer protocol, such as bytes, ``array.array`` and NumPy's arrays, and from tensors with
DLPack where NumPy is installed. A kernel is foreign code, as in CUDA: what is wrong with its arguments can end the process, except on the
device "reference", which checks every access.
"""

from __future__ import annotations

import ctypes
import json
import math
import numbers
import struct
import sys
from dataclasses import dataclass
from typing import Any, Iterator, Sequence, Union

from . import _native
from ._native import Error, TranslationError

__all__ = ["Array", "Device", "Error", "Event", "Kernel", "Module", "Stream", "Translation", "TranslationError", "presets", "translate"]

#: A kernel that multiplies numbers by a factor, for the examples here.
EXAMPLE = """
.version 7.0
.target sm_50
.address_size 64
.visible .entry scale(.param .u64 numbers, .param .f32 factor, .param .u32 count)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    .reg .f32 %f<3>;
    .reg .pred %p;
    mov.u32 %r1, %tid.x;
    ld.param.u32 %r2, [count];
    setp.ge.u32 %p, %r1, %r2;
    @%p ret;
    ld.param.u64 %rd1, [numbers];
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd1, %rd1, %rd2;
    ld.global.f32 %f1, [%rd1];
    ld.param.f32 %f2, [factor];
    mul.f32 %f1, %f1, %f2;
    st.global.f32 [%rd1], %f1;
    ret;
}
"""

Size = Union[int, Sequence[int]]


@dataclass(frozen=True)
class Translation:
    """A SPIR-V module, and how to launch its kernels (docs/interface.md)."""

    spirv: bytes
    interface: dict[str, Any]

    def __repr__(self) -> str:
        kernels = ", ".join(entry["name"] for entry in self.interface["entries"])
        return f"Translation({kernels}: {len(self.spirv)} bytes of SPIR-V)"


def translate(ptx: str, *, target: str, name: str = "kernel.ptx", math: str = "exact") -> Translation:
    """Translates PTX to SPIR-V for a preset (see :func:`presets`), or for the file that ``ptx2spv devices --json`` writes.

    >>> translation = translate(EXAMPLE, target="nvidia")
    >>> translation.spirv[:4].hex(), [entry["name"] for entry in translation.interface["entries"]]
    ('03022307', ['scale'])
    >>> str(translation).startswith("Translation(scale: ")
    True

    Errors have their places, and the text that is printed quotes them:

    >>> try:
    ...     translate(EXAMPLE.replace("mul.f32", "mull.f32"), target="nvidia")
    ... except TranslationError as error:
    ...     [(found["line"], found["column"], found["code"]) for found in error.diagnostics]
    [(20, 5, 'unknown-opcode')]
    """
    spirv, interface = _native.translate(ptx, name, target, math)
    return Translation(spirv, json.loads(interface))


def presets() -> list[str]:
    """The names of devices that modules can be translated for without having them.

    >>> "nvidia" in presets()
    True
    """
    return _native.presets()


class Device:
    """An open device: by its number, a part of its name, or cpu, discrete, integrated, vulkan, reference. Without a name it is that of the
    environment variable ``PTX2SPV_DEVICE``, else the best one."""

    def __init__(self, selector: str | None = None) -> None:
        self._native = _native.Device(selector)

    @property
    def name(self) -> str:
        return self._native.name()

    def load(self, ptx: str, name: str = "kernel.ptx") -> Module:
        """Loads PTX. Messages call it by the name."""
        return Module(self, self._native.load(ptx, name))

    def empty(self, shape: Size, format: str = "f") -> Array:
        """An array with undefined contents. The format is a letter of Python's module ``struct``, such as f, d, i, I, B."""
        return Array(self, shape, format)

    def zeros(self, shape: Size, format: str = "f") -> Array:
        """An array of zeros."""
        array = self.empty(shape, format)
        array._buffer.fill(0)
        return array

    def array(self, data: Any) -> Array:
        """A copy of a buffer, or of a tensor of the host.

        >>> Device("reference").array(memoryview(bytes(range(6))).cast("B", (2, 3))).shape
        (2, 3)
        """
        view = _view(data)
        array = self.empty(view.shape or (), view.format.lstrip("@=<" if sys.byteorder == "little" else "@="))
        array.copy_from(view)
        return array

    def stream(self) -> Stream:
        """A stream, whose work runs in order, and beside that of other streams where the device can."""
        return Stream(self, self._native.stream())

    def event(self) -> Event:
        """An event that records the time."""
        return Event(self._native.event())

    def synchronize(self) -> None:
        """Waits until everything launched has finished."""
        self._native.synchronize()

    def take_output(self) -> str:
        """What kernels have printed since the last call."""
        return self._native.take_output().decode(errors="replace")

    def __repr__(self) -> str:
        return f"Device({self.name!r})"


class Array:
    """An array in a device's memory, C-contiguous. It is freed with the object, after what was launched before."""

    def __init__(self, device: Device, shape: Size, format: str) -> None:
        self.device = device
        self.shape = (shape,) if isinstance(shape, int) else tuple(shape)
        if len(format) != 1 or format in "csp":
            raise ValueError(f"{format!r} is no format of numbers")
        self.format = format
        # Sizes are those of memoryview.
        self.itemsize = struct.calcsize(format)
        self._buffer = device._native.allocate(self.nbytes)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize

    @property
    def address(self) -> int:
        """The device address of the first byte."""
        return self._buffer.address()

    def copy_from(self, data: Any, stream: Stream | None = None) -> None:
        """Writes the elements of a buffer with as many bytes, which are read during the call."""
        view = _view(data)
        self._check(view)
        self._check_stream(stream)
        self._buffer.write(view.tobytes(), _stream(stream))

    def copy_to(self, data: Any, stream: Stream | None = None) -> None:
        """Reads the elements into a C-contiguous buffer with as many bytes, after all earlier work of the stream."""
        self._check(memoryview(data))
        self._check_stream(stream)
        if self.nbytes:
            target = (ctypes.c_ubyte * self.nbytes).from_buffer(data)
            ctypes.memmove(target, self._buffer.read(self.nbytes, _stream(stream)), self.nbytes)

    def _check(self, view: memoryview) -> None:
        if view.nbytes != self.nbytes:
            raise ValueError(f"the buffer has {view.nbytes} bytes, and the array {self.nbytes}")

    def _check_stream(self, stream: Stream | None) -> None:
        if stream is not None and stream.device is not self.device:
            raise ValueError("the stream is on another device")

    def tobytes(self) -> bytes:
        """The elements' bytes, after all earlier work."""
        return self._buffer.read(self.nbytes, None)

    def tolist(self) -> list[Any]:
        """The elements as (nested) lists."""
        elements: Any = struct.unpack(f"{self.size}{self.format}", self.tobytes())
        for width in reversed(self.shape[1:]):
            elements = [list(elements[at : at + width]) for at in range(0, len(elements), width)] if width else []
        return list(elements)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        import numpy

        array = numpy.empty(self.shape, numpy.dtype(self.format))
        self.copy_to(array)
        return array if dtype is None else array.astype(dtype)

    def __dlpack__(self, **options: Any) -> Any:
        """A copy for the host. NumPy makes it."""
        options.pop("stream", None)
        return self.__array__().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # The host's processor.

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        kind = "f" if self.format in "efd" else "b" if self.format == "?" else "i" if self.format.islower() else "u"
        return {
            "shape": self.shape,
            "typestr": f"{'|' if self.itemsize == 1 else '<'}{kind}{self.itemsize}",
            "data": (self.address, False),
            "strides": None,
            "version": 3,
        }

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"Array(shape={self.shape}, format={self.format!r})"


def _view(data: Any) -> memoryview:
    """A buffer, or a tensor of the host."""
    try:
        return memoryview(data)
    except TypeError:
        if not hasattr(data, "__dlpack__"):
            raise
        import numpy

        return numpy.from_dlpack(data).data


class Module:
    """Loaded PTX. ``module["name"]`` is a kernel, translated for the device when it is first asked for."""

    def __init__(self, device: Device, native: _native.Module) -> None:
        self.device = device
        self._native = native
        self._kernels: dict[str, Kernel] = {}

    def __getitem__(self, name: str) -> Kernel:
        if name not in self._kernels:
            self._kernels[name] = Kernel(self.device, self._native.kernel(name))
        return self._kernels[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._native.names())

    def read_variable(self, name: str) -> bytes:
        """The bytes of a variable of the module."""
        return self._native.read_variable(name)

    def write_variable(self, name: str, data: Any) -> None:
        """Writes the first bytes of a variable."""
        self._native.write_variable(name, _view(data).tobytes())


#: The letters of Python's module ``struct`` for PTX's types of one size. Untyped parameters take integers and floats.
_FORMATS = {
    "u8": "B", "u16": "H", "u32": "I", "u64": "Q", "s8": "b", "s16": "h", "s32": "i", "s64": "q",
    "b8": "B", "b16": "H", "b32": "I", "b64": "Q", "f16": "e", "f32": "f", "f64": "d",
}  # fmt: skip


class Kernel:
    """A kernel. ``kernel[grid, block](…)`` launches it, and ``kernel[grid, block, shared, stream](…)`` with bytes of dynamic shared memory
    and in a stream. Grids and blocks are numbers or tuples of up to three.

    The arguments are arrays, objects with ``__cuda_array_interface__`` in memory of the device, numbers, and bytes for structs. Launches are
    asynchronous and in the order of the calls.
    """

    def __init__(self, device: Device, native: _native.Kernel) -> None:
        self.device = device
        self._native = native
        self.name: str = native.name()
        self._parameters: list[tuple[str, str, int]] = native.parameters()

    def __getitem__(self, sizes: tuple[Any, ...]) -> _Launch:
        if not isinstance(sizes, tuple) or not 2 <= len(sizes) <= 4:
            raise TypeError("a launch is kernel[grid, block](…), kernel[grid, block, shared](…) or kernel[grid, block, shared, stream](…)")
        shared = sizes[2] if len(sizes) > 2 else 0
        return _Launch(self, _three(sizes[0]), _three(sizes[1]), shared, sizes[3] if len(sizes) > 3 else None)

    def _pack(self, argument: Any, parameter: tuple[str, str, int]) -> int | bytes:
        name, kind, size = parameter
        if isinstance(argument, Array):
            if argument.device is not self.device:
                raise ValueError(f"the array for `{name}` is on another device")
            argument = _Address(argument.address)
        elif hasattr(argument, "__cuda_array_interface__"):
            argument = _Address(self._foreign(argument.__cuda_array_interface__, name))
        if isinstance(argument, _Address):
            if size != 8:
                raise TypeError(f"`{name}` has {size} bytes, and is no pointer")
            return argument.value
        argument = _number(argument)
        if isinstance(argument, (int, float)):
            letter = _FORMATS.get(kind)
            if letter is None:
                raise TypeError(f"`{name}` is a struct or an array: pass its {size} bytes")
            if isinstance(argument, float) and kind[0] == "b":
                letter = {2: "e", 4: "f", 8: "d"}.get(size, letter)
            # Signed and unsigned are the same in PTX.
            if letter in "BHIQ" and isinstance(argument, int) and argument < 0:
                letter = letter.lower()
            try:
                return struct.pack("<" + letter, argument)
            except (struct.error, OverflowError) as error:
                raise ValueError(f"{argument!r} does not fit `{name}`, which is .{kind}: {error}") from None
        data = _view(argument).tobytes()
        if len(data) != size:
            hint = ": a pointer takes an array on the device, as `device.array(data)` makes it" if kind[1:] == "64" else ""
            raise ValueError(f"`{name}` has {size} bytes, not {len(data)}{hint}")
        return data

    def _foreign(self, interface: dict[str, Any], name: str) -> int:
        """The address of another library's array. Only the runtime's own memory has addresses that mean anything here."""
        address: int = interface["data"][0]
        if interface.get("strides") is not None:
            raise ValueError(f"the array for `{name}` is not C-contiguous")
        count = math.prod(interface["shape"]) * int(interface["typestr"][2:])
        if count and not self.device._native.has(address, count):
            raise ValueError(f"the array for `{name}` is not in memory of {self.device}")
        return address

    def __repr__(self) -> str:
        return f"Kernel({self.name!r})"


@dataclass(frozen=True)
class _Address:
    value: int


@dataclass(frozen=True)
class _Launch:
    kernel: Kernel
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int
    stream: Stream | None

    def __call__(self, *arguments: Any) -> None:
        parameters = self.kernel._parameters
        if len(arguments) != len(parameters):
            raise TypeError(f"{self.kernel.name} takes {len(parameters)} arguments, not {len(arguments)}")
        packed = [self.kernel._pack(argument, parameter) for argument, parameter in zip(arguments, parameters)]
        self.kernel._native.launch(self.grid, self.block, self.shared, _stream(self.stream), packed)


def _number(value: Any) -> Any:
    """Numbers of other libraries, such as NumPy's, as Python's own; everything else as it is."""
    if isinstance(value, numbers.Integral):
        return int(value)
    return float(value) if isinstance(value, numbers.Real) else value


def _three(size: Size) -> tuple[int, int, int]:
    sizes = (int(size),) if isinstance(size, numbers.Integral) else tuple(size)
    if not 1 <= len(sizes) <= 3:
        raise ValueError(f"{size!r} is not one to three numbers")
    x, y, z, *_ = (*sizes, 1, 1)
    return x, y, z


def _stream(stream: Stream | None) -> _native.Stream | None:
    return None if stream is None else stream._native


class Stream:
    """Work in order: see :meth:`Device.stream`."""

    def __init__(self, device: Device, native: _native.Stream) -> None:
        self.device = device
        self._native = native

    def synchronize(self) -> None:
        """Waits until everything in the stream has finished."""
        self._native.synchronize()

    @property
    def is_idle(self) -> bool:
        return self._native.is_idle()

    def wait(self, event: Event) -> None:
        """Has the stream's next work wait for an event, as recorded now."""
        self._native.wait(event._native)


class Event:
    """A point in a stream.

    >>> device = Device("reference")
    >>> start, end = device.event(), device.event()
    >>> start.record(); end.record()
    >>> end.elapsed_since(start) >= 0
    True
    """

    def __init__(self, native: _native.Event) -> None:
        self._native = native

    def record(self, stream: Stream | None = None) -> None:
        """Stands for everything submitted to the stream so far."""
        self._native.record(_stream(stream))

    def synchronize(self) -> None:
        """Waits until everything before the event has finished."""
        self._native.synchronize()

    @property
    def has_passed(self) -> bool:
        return self._native.has_passed()

    def elapsed_since(self, start: Event) -> float:
        """Seconds from another event to this one, after waiting for both."""
        return self._native.elapsed_since(start._native)

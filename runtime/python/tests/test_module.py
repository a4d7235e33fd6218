"""The module `ptx2spv`, on the device of the environment and on the reference device."""

import array
import doctest
import unittest

import ptx2spv

try:
    import numpy
except ImportError:
    numpy = None

# Adds `count` numbers of 64 bits with a step, in blocks of any size, and needs dynamic shared memory.
PTX = """
.version 7.0
.target sm_50
.address_size 64
.global .align 4 .u32 launches = 0;
.extern .shared .align 8 .b8 scratch[];
.visible .entry add(.param .u64 numbers, .param .b64 step, .param .u32 count, .param .align 4 .b8 pair[8])
{
    .reg .pred %p;
    .reg .b32 %r<6>;
    .reg .b64 %rd<6>;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r1, %r1, %r2, %r3;
    ld.param.u32 %r2, [count];
    setp.ge.u32 %p, %r1, %r2;
    @%p ret;
    ld.param.u64 %rd1, [numbers];
    mul.wide.u32 %rd2, %r1, 8;
    add.u64 %rd1, %rd1, %rd2;
    ld.global.u64 %rd3, [%rd1];
    ld.param.u64 %rd4, [step];
    add.u64 %rd3, %rd3, %rd4;
    ld.param.u32 %r4, [pair+4];
    cvt.s64.s32 %rd5, %r4;
    add.u64 %rd3, %rd3, %rd5;
    st.global.u64 [%rd1], %rd3;
    atom.global.add.u32 %r5, [launches], 1;
    ret;
}
"""


class Module(unittest.TestCase):
    def setUp(self):
        self.devices = [ptx2spv.Device(), ptx2spv.Device("reference")]

    def test_documentation(self):
        results = doctest.testmod(ptx2spv)
        self.assertEqual((results.failed, results.attempted > 10), (0, True))

    def test_kernels_take_arrays_numbers_and_structs(self):
        for device in self.devices:
            module = device.load(PTX, "add.ptx")
            self.assertEqual(list(module), ["add"])
            numbers = device.array(memoryview(array.array("q", range(100))).cast("B").cast("q", (20, 5)))
            pair = array.array("i", [7, -3])
            for stream in (None, device.stream()):
                module["add"][(4, 1), 32, 1024, stream](numbers, -2, 100, pair)
            device.synchronize()
            self.assertEqual(numbers.tolist(), [[5 * row + column - 10 for column in range(5)] for row in range(20)])
            self.assertEqual(module.read_variable("launches"), (200).to_bytes(4, "little"))
            module.write_variable("launches", bytes(4))
            self.assertEqual(module.read_variable("launches"), bytes(4))

    @unittest.skipUnless(numpy, "NumPy is not installed; scripts/test-wheel installs it")
    def test_arrays_come_from_buffers_and_tensors_and_go_back(self):
        class Tensor:
            """A tensor with DLPack alone."""

            def __init__(self, data):
                self.data = data

            def __dlpack__(self, **options):
                return self.data.__dlpack__(**options)

            def __dlpack_device__(self):
                return self.data.__dlpack_device__()

        for device in self.devices:
            data = numpy.arange(12, dtype=numpy.float16).reshape(3, 4)
            for given, expected in (data, data), (data.T, data.T), (Tensor(data.copy()), data), (memoryview(data), data):
                made = device.array(given)
                numpy.testing.assert_array_equal(numpy.from_dlpack(made), expected)
                self.assertEqual(made.tolist(), expected.tolist())
                interface = made.__cuda_array_interface__
                self.assertEqual((interface["shape"], interface["typestr"]), (expected.shape, "<f2"))
            for kind in "?bBhHiIlLqQfd":
                zeros = device.zeros((2, 3), kind)
                self.assertEqual(numpy.asarray(zeros).dtype, numpy.dtype(zeros.__cuda_array_interface__["typestr"]))
            target = numpy.empty_like(data)
            device.array(data).copy_to(target, device.stream())
            numpy.testing.assert_array_equal(target, data)
            self.assertEqual(device.array(b"").tolist(), [])
            with self.assertRaisesRegex(ValueError, "24 bytes, and the array 4"):
                device.empty(4, "B").copy_from(data)

    def test_what_is_wrong_is_refused(self):
        device = self.devices[1]
        add = device.load(PTX)["add"]
        numbers, pair = device.zeros(4, "q"), bytes(8)

        class Foreign:
            __cuda_array_interface__ = {"shape": (4,), "typestr": "<i8", "data": (4096, False), "version": 3}

        for arguments, error, message in [
            ((numbers, 1, 4), TypeError, "takes 4 arguments, not 3"),
            ((numbers, 1, numbers, pair), TypeError, "`count` has 4 bytes"),
            ((numbers, 1, 1.5, pair), ValueError, "1.5 does not fit `count`"),
            ((numbers, 1, 1 << 32, pair), ValueError, "does not fit `count`"),
            ((numbers, 1, 4, bytes(4)), ValueError, "`pair` has 8 bytes, not 4"),
            ((bytes(32), 1, 4, pair), ValueError, "has 8 bytes, not 32: a pointer takes an array"),
            ((numbers, 1, 4, 5), TypeError, "`pair` is a struct"),
            ((self.devices[0].zeros(4, "q"), 1, 4, pair), ValueError, "on another device"),
            ((Foreign(), 1, 4, pair), ValueError, "not in memory of"),
        ]:
            with self.assertRaisesRegex(error, message):
                add[1, 4](*arguments)
        with self.assertRaises(TypeError):
            add[1]
        with self.assertRaisesRegex(KeyError, "ad"):
            device.load(PTX)["ad"]
        with self.assertRaisesRegex(ptx2spv.Error, "block"):
            add[1, 2048](numbers, 1, 4, pair)
        # The reference device reports what goes beyond an array.
        add[1, 32](numbers, 1, 32, pair)
        with self.assertRaisesRegex(ptx2spv.Error, "out-of-bounds access"):
            device.synchronize()

    def test_errors_have_places(self):
        with self.assertRaises(ptx2spv.TranslationError) as caught:
            self.devices[1].load(PTX.replace("mul.wide.u32 %rd2", "mul.wide.u33 %rd2"), "wrong.ptx")
        [found] = caught.exception.diagnostics
        self.assertEqual((found["file"], found["line"], found["function"]), ("wrong.ptx", 20, "add"))
        self.assertIn("wrong.ptx:20:", str(caught.exception))

    def test_events_measure(self):
        for device in self.devices:
            stream, start, end = device.stream(), device.event(), device.event()
            start.record(stream)
            numbers = device.zeros(1000)
            numbers.copy_from(array.array("f", [1] * 1000), stream)
            end.record(stream)
            device.stream().wait(end)
            end.synchronize()
            self.assertTrue(end.has_passed and stream.is_idle and 0 <= end.elapsed_since(start) < 10)


if __name__ == "__main__":
    unittest.main()

"""The wheel's command, and a CUDA program that finds the wheel's driver library."""

import ctypes
import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import ptx2spv


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def compiled():
    """A program of CUDA's library for compiling at run time: prints whether the PTX has the kernel."""
    nvrtc = ctypes.CDLL("libnvrtc.so.12")
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    source = b'extern "C" __global__ void twice(float *at) { at[threadIdx.x] *= 2; }'
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"twice.cu", 0, None, None) == 0
    assert nvrtc.nvrtcCompileProgram(program, 0, None) == 0
    assert nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size)) == 0
    ptx = ctypes.create_string_buffer(size.value)
    assert nvrtc.nvrtcGetPTX(program, ptx) == 0
    print(b".entry twice(" in ptx.value)


def client():
    """A program of CUDA's driver library: scales four numbers."""
    cuda = ctypes.CDLL("libcuda.so.1")

    def call(name, *arguments):
        result = getattr(cuda, name)(*arguments)
        assert result == 0, (name, result)

    context, module, kernel, memory = (ctypes.c_void_p() for _ in range(4))
    numbers = (ctypes.c_float * 4)(1, 2, 3, 4)
    call("cuInit", 0)
    call("cuCtxCreate_v2", ctypes.byref(context), 0, 0)
    call("cuModuleLoadData", ctypes.byref(module), ptx2spv.EXAMPLE.encode() + b"\0")
    call("cuModuleGetFunction", ctypes.byref(kernel), module, b"scale")
    call("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(16))
    call("cuMemcpyHtoD_v2", memory, numbers, ctypes.c_size_t(16))
    values = memory, ctypes.c_float(0.5), ctypes.c_uint(4)
    arguments = (ctypes.c_void_p * 3)(*(ctypes.addressof(value) for value in values))
    call("cuLaunchKernel", kernel, 1, 1, 1, 4, 1, 1, 0, None, arguments, None)
    call("cuMemcpyDtoH_v2", numbers, memory, ctypes.c_size_t(16))
    print(list(numbers))


class Programs(unittest.TestCase):
    def test_a_cuda_program_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = Path(folder, "trace.json")
            done = run("ptx2spv", "cuda", f"--profile={trace}", "--", sys.executable, __file__, "client")
            self.assertEqual((done.returncode, done.stdout), (0, "[0.5, 1.0, 1.5, 2.0]\n"), done.stderr)
            self.assertIn("  scale\n", done.stderr)
            self.assertIn("scale", [event["name"] for event in json.loads(trace.read_text())])

    @unittest.skipUnless(shutil.which("clang-19"), "clang 19, which compiles, is not installed")
    def test_kernels_compile_at_run_time(self):
        done = run("ptx2spv", "cuda", "--", sys.executable, __file__, "compiled")
        self.assertEqual((done.returncode, done.stdout), (0, "True\n"), done.stderr)

    def test_the_libraries_have_their_names(self):
        folder = Path(run("ptx2spv", "cuda", "--print-path").stdout.strip())
        self.assertTrue(folder.is_relative_to(sys.prefix), folder)
        for name in ("libcuda.so.1", "libcudart.so.12", "libnvrtc.so.12", "ptxas"):
            self.assertTrue((folder / name).exists(), name)
        self.assertIn("V12", run(str(folder / "ptxas"), "--version").stdout)

    def test_the_command_translates_and_checks(self):
        with tempfile.TemporaryDirectory() as folder:
            ptx = Path(folder, "example.ptx")
            ptx.write_text(ptx2spv.EXAMPLE)
            self.assertEqual(run("ptx2spv", "check", str(ptx)).returncode, 0)
            done = run("ptx2spv", "translate", str(ptx), "--target", "nvidia", "-o", folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            # The module and the command are one translator.
            self.assertEqual(Path(folder, "example.spv").read_bytes(), ptx2spv.translate(ptx2spv.EXAMPLE, target="nvidia").spirv)


if __name__ == "__main__":
    if sys.argv[-1] in ("client", "compiled"):
        globals()[sys.argv[-1]]()
    else:
        unittest.main()

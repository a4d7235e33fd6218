//! A folder of the shape of NVIDIA's toolkit, for clang, CMake and others.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::clang::{Clang, Error};
use crate::files::{link, unique, write};
use crate::missing::{MISSING, header};

include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// Headers that clang's own `__clang_cuda_runtime_wrapper.h` includes from every toolkit, and that have nothing to add here.
const EMPTY: &[&str] = &[
    "crt/device_double_functions.hpp",
    "crt/host_runtime.h",
    "host_config.h",
    "sm_20_atomic_functions.hpp",
    "sm_20_intrinsics.hpp",
    "sm_32_atomic_functions.hpp",
    "sm_60_atomic_functions.hpp",
    "sm_61_intrinsics.hpp",
    "texture_indirect_functions.h",
];

/// Headers of NVIDIA's whose contents are in others here: the name, and the other one.
const SAME: &[(&str, &str)] = &[
    ("builtin_types.h", "cuda_runtime.h"),
    ("crt/host_config.h", "../host_config.h"),
    ("crt/host_defines.h", "../host_defines.h"),
    ("cuda_device_runtime_api.h", "cuda_runtime.h"),
    ("cuda_occupancy.h", "cuda_runtime.h"),
    ("cuda_profiler_api.h", "cuda_runtime_api.h"),
    ("cuda_surface_types.h", "cuda_runtime.h"),
    ("cuda_texture_types.h", "cuda_runtime.h"),
    ("cudaProfiler.h", "cuda.h"),
    // The last header that clang's wrapper includes.
    ("curand_mtgp32_kernel.h", "crt/sm_80_rt.hpp"),
    ("device_functions.h", "cuda_runtime.h"),
    ("device_launch_parameters.h", "cuda_runtime.h"),
    ("device_types.h", "driver_types.h"),
    ("driver_functions.h", "cuda_runtime.h"),
    ("math_constants.h", "crt/math_constants.h"),
    ("math_functions.h", "cuda_runtime.h"),
    ("nvToolsExt.h", "nvtx3/nvToolsExt.h"),
    ("nvtx3/nvToolsExtCuda.h", "nvToolsExt.h"),
    ("nvtx3/nvToolsExtCudaRt.h", "nvToolsExt.h"),
    ("sm_20_atomic_functions.h", "cuda_runtime.h"),
    ("sm_20_intrinsics.h", "cuda_runtime.h"),
    ("sm_30_intrinsics.h", "cuda_runtime.h"),
    ("sm_32_atomic_functions.h", "cuda_runtime.h"),
    ("sm_32_intrinsics.h", "cuda_runtime.h"),
    ("sm_35_atomic_functions.h", "cuda_runtime.h"),
    ("sm_35_intrinsics.h", "cuda_runtime.h"),
    ("sm_60_atomic_functions.h", "cuda_runtime.h"),
    ("sm_61_intrinsics.h", "cuda_runtime.h"),
    ("surface_functions.h", "cuda_runtime.h"),
    ("surface_indirect_functions.h", "cuda_runtime.h"),
    ("surface_types.h", "driver_types.h"),
    ("texture_types.h", "driver_types.h"),
];

/// The toolkit's version file, in the form of NVIDIA's; CMake reads it.
const VERSION: &str = "{\"cuda\": {\"name\": \"CUDA SDK\", \"version\": \"12.8.0\"}}\n";

/// An archive without members.
const EMPTY_ARCHIVE: &str = "!<arch>\n";

/// Libraries beside `libcudart.so`: statically linked programs get the shared one.
const LIBRARIES: &[(&str, &str)] = &[
    ("libcudart_static.a", "INPUT(-lcudart)\n"),
    ("libcudadevrt.a", EMPTY_ARCHIVE),
    // Its functions are in the header.
    ("libnvToolsExt.a", EMPTY_ARCHIVE),
];

/// Options of clang for the device's mathematics. Not `-ffreestanding`: it would keep the functions from being inlined. The handling of
/// denormal numbers is decided where kernels are compiled.
const FLAGS: [&str; 9] = [
    "--target=nvptx64-nvidia-cuda",
    "-std=c++17",
    "-O2",
    "-nostdinc",
    "-fno-exceptions",
    "-fno-rtti",
    "-ffp-contract=off",
    "-mllvm",
    "-nvvm-reflect-enable=false",
];

/// The folder.
#[derive(Clone, Debug)]
pub struct Toolkit {
    folder: PathBuf,
    libraries: PathBuf,
}

impl Toolkit {
    /// Writes a toolkit's folder into the folder with the libraries, as far as it isn't there. `program` is called as `nvcc`, `nvlink`,
    /// `ptxas` and `fatbinary`; without one, only PTX can be made.
    ///
    /// # Errors
    /// The folder can't be written.
    pub fn write(libraries: &Path, program: Option<&Path>) -> Result<Self, Error> {
        let folder = libraries.join("toolkit");
        let include = folder.join("include");
        for (name, text) in INCLUDE {
            write(text.as_bytes(), &include.join(name))?;
        }
        for name in EMPTY {
            write(b"", &include.join(name))?;
        }
        for (name, other) in SAME {
            write(format!("#include \"{other}\"\n").as_bytes(), &include.join(name))?;
        }
        for missing in MISSING {
            for name in missing.headers {
                write(header(missing).as_bytes(), &include.join(name))?;
            }
        }
        // clang takes a folder without it for none.
        let programs = folder.join("bin");
        std::fs::create_dir_all(&programs).map_err(Error::file(&programs))?;
        for name in ["nvcc", "nvlink", "ptxas", "fatbinary"] {
            if let Some(program) = program {
                link(program, &programs.join(name))?;
            }
        }
        write(VERSION.as_bytes(), &folder.join("version.json"))?;
        for (name, text) in LIBRARIES {
            write(text.as_bytes(), &libraries.join(name))?;
        }
        for name in ["lib64", "lib"] {
            link(libraries, &folder.join(name))?;
        }
        Ok(Self { folder, libraries: libraries.to_owned() })
    }

    /// The folder, for clang's `--cuda-path` and CMake's `CUDAToolkit_ROOT`.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder with the libraries.
    pub fn libraries(&self) -> &Path {
        &self.libraries
    }

    /// The device's mathematics as bitcode, under the name by which clang looks for NVIDIA's; compiled by clang unless it was.
    ///
    /// # Errors
    /// clang fails, or the file can't be written.
    pub fn compile_library(&self, clang: &Clang) -> Result<PathBuf, Error> {
        let folder = self.folder.join("nvvm/libdevice");
        let bitcode = folder.join("libdevice.10.bc");
        for (name, text) in LIBDEVICE {
            write(text.as_bytes(), &folder.join(name))?;
        }
        // What the bitcode was made from.
        let sources: String = LIBDEVICE.iter().map(|(_, text)| *text).collect();
        let stamp = format!("{} {} {FLAGS:?}\n{sources}", clang.program().display(), clang.release());
        let made_from = folder.join("made-from");
        if bitcode.exists() && std::fs::read(&made_from).is_ok_and(|found| found == stamp.as_bytes()) {
            return Ok(bitcode);
        }
        let new = unique(&bitcode);
        let run = Command::new(clang.program())
            .args(FLAGS)
            .args(["-emit-llvm", "-c", "-o"])
            .arg(&new)
            .arg(folder.join("libdevice.cpp"))
            .output();
        let run = run.map_err(|error| Error::Run { program: clang.program().to_owned(), error })?;
        if !run.status.success() {
            let output = String::from_utf8_lossy(&run.stderr).into_owned();
            return Err(Error::Failed { program: clang.program().to_owned(), output });
        }
        std::fs::rename(&new, &bitcode).map_err(Error::file(&bitcode))?;
        write(stamp.as_bytes(), &made_from)?;
        Ok(bitcode)
    }
}

//! Libraries of NVIDIA's that don't exist here.

/// A library that programs may want.
pub(crate) struct Missing {
    /// The name for `-l`.
    pub library: &'static str,
    /// The library's headers.
    pub headers: &'static [&'static str],
    /// Alternatives to the library.
    pub instead: &'static str,
}

/// All such libraries.
pub(crate) const MISSING: &[Missing] = &[
    Missing {
        library: "cublas",
        headers: &["cublas.h", "cublas_v2.h", "cublasXt.h"],
        instead: "a BLAS in CUDA C++ of the program's own, or one for the processor (OpenBLAS)",
    },
    Missing {
        library: "cublasLt",
        headers: &["cublasLt.h"],
        instead: "a BLAS in CUDA C++ of the program's own, or one for the processor (OpenBLAS)",
    },
    Missing { library: "cudnn", headers: &["cudnn.h"], instead: "kernels of the program's own" },
    Missing {
        library: "cufft",
        headers: &["cufft.h", "cufftXt.h"],
        instead: "VkFFT, whose CUDA back end uses NVRTC and the driver API",
    },
    Missing { library: "curand", headers: &["curand.h"], instead: "a generator in kernels of the program's own" },
    Missing { library: "cusolver", headers: &["cusolverDn.h", "cusolverSp.h"], instead: "LAPACK for the processor" },
    Missing { library: "cusparse", headers: &["cusparse.h", "cusparse_v2.h"], instead: "kernels of the program's own" },
    Missing { library: "nccl", headers: &["nccl.h"], instead: "nothing: there is one device" },
    Missing { library: "nppc", headers: &["npp.h", "nppi.h"], instead: "kernels of the program's own" },
    Missing { library: "nvjpeg", headers: &["nvjpeg.h"], instead: "libjpeg for the processor" },
    Missing { library: "nvml", headers: &["nvml.h"], instead: "cudaGetDeviceProperties" },
    Missing { library: "cupti", headers: &["cupti.h"], instead: "events of the runtime API" },
    Missing {
        library: "optix",
        headers: &["optix.h", "optix_stubs.h"],
        instead: "nothing: OptiX is a part of NVIDIA's driver",
    },
];

/// The header's text: an error where it is included.
pub(crate) fn header(missing: &Missing) -> String {
    format!(
        "#error \"ptx2spv has no {}, a library of NVIDIA's toolkit; instead there is: {}\"\n",
        missing.library, missing.instead
    )
}

/// The missing library that `-l` names.
pub(crate) fn library(name: &str) -> Option<&'static Missing> {
    let name = name.strip_suffix("_static").unwrap_or(name);
    MISSING.iter().find(|missing| missing.library == name)
}

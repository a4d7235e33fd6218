//! Messages have the names of C++.

use ptx2spv_runtime::Error;
use ptx2spv_runtime::interface::SourceLocation;

/// `blas::axpy(int, float*)`.
const KERNEL: &str = "_ZN4blas4axpyEiPf";

#[test]
fn messages_have_the_names_of_cpp() {
    let kernel = || KERNEL.to_owned();
    let param = || format!("{KERNEL}_param_1");
    let place = SourceLocation { line: 7, module: None, function: Some("_Z5inneri".to_owned()), source: None };
    for (error, expected) in [
        (
            Error::ArgumentSize { kernel: kernel(), index: 1, param: param(), expected: 8, given: 4 },
            "kernel `blas::axpy(int, float*)`, argument 1: parameter `param_1` has 8 bytes, the argument 4",
        ),
        (
            Error::Interface(format!("`{KERNEL}` reads 9 bytes of push constants")),
            "the module's description is wrong: `blas::axpy(int, float*)` reads 9 bytes of push constants",
        ),
        (
            Error::Aborted { kernels: vec![kernel()], reason: "a trap".to_owned(), place: Some(Box::new(place)) },
            "kernel `blas::axpy(int, float*)` was stopped at line 7 of the PTX, in `inner(int)`: a trap; results are incomplete",
        ),
        // Whoever reads it has to ask for the kernel by its name in PTX.
        (
            Error::NoKernel { name: "axpy".to_owned(), available: vec![kernel()] },
            "no kernel `axpy`; the module has: _ZN4blas4axpyEiPf",
        ),
    ] {
        assert_eq!(error.to_string(), expected);
    }
}

//! Errors of CUDA's driver.

/// A failed call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the names say what the members are")]
pub enum CudaError {
    /// There is no usable driver.
    #[error("no CUDA driver: {0}")]
    NoDriver(String),
    /// A call returned an error.
    #[error("{call}: {name}{}", if log.is_empty() { String::new() } else { format!("\n{log}") })]
    Call {
        call: &'static str,
        code: i32,
        /// The code's name and description.
        name: String,
        /// The assembler's messages, if any.
        log: String,
    },
    /// Invalid arguments, so that the call was not made.
    #[error("{0}")]
    Arguments(String),
}

impl CudaError {
    /// Whether the input was refused, as opposed to a failure on the device.
    pub fn is_refusal(&self) -> bool {
        /// `CUDA_ERROR_INVALID_VALUE`, `…_NO_BINARY_FOR_GPU`, `…_INVALID_PTX`, `…_UNSUPPORTED_PTX_VERSION`, `…_NOT_FOUND`,
        /// `…_LAUNCH_OUT_OF_RESOURCES`.
        const REFUSALS: [i32; 6] = [1, 209, 218, 222, 500, 701];
        match self {
            CudaError::NoDriver(_) => false,
            CudaError::Call { code, .. } => REFUSALS.contains(code),
            CudaError::Arguments(_) => true,
        }
    }
}

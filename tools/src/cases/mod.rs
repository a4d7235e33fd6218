//! Launch cases: kernels with inputs and expected results, as JSON files.
//!
//! [`spec`] is the form of the file, [`prepare`] turns a case into bytes, a [`Backend`] runs it on a device, and
//! [`compare`] judges the results. The same cases run on every device, including CUDA.

pub mod argument_text;
mod backend;
mod case;
pub mod compare;
pub mod contents;
pub mod contents_spec;
pub mod cuda;
mod cuda_images;
pub mod device;
pub mod device_images;
mod elements_text;
pub mod image_spec;
mod image_text;
pub mod images;
pub mod literal;
pub mod prepare;
mod ptx;
pub mod record;
mod scalar;
pub mod spec;
pub mod suite;
#[cfg(test)]
mod tests;
pub mod worker;

pub use backend::{Backend, Failure, Outputs};
pub use case::{Case, Found, Verdict, find, judge};
pub use contents::{CaseError, Result};
pub use cuda::CudaBackend;
pub use device::{DeviceBackend, Steps};
pub use prepare::Prepared;
pub use ptx::Ptx;
pub use scalar::Scalar;

//! Launches built argument by argument, with their kinds checked.

use bytemuck::Pod;
use ptx2spv_translator::interface::Param;

use crate::error::{Error, Result};
use crate::launch::args::{Arg, LaunchConfig};
use crate::module::kernel::Kernel;
use crate::stream::Stream;

/// A builder for a launch. In addition to the number and sizes of the arguments, it checks their kinds: float
/// parameters need floats, and integer parameters need integers.
///
/// ```
/// use ptx2spv_runtime::{Config, Device, LaunchConfig};
/// use ptx2spv_translator::Source;
///
/// let device = Device::reference(Config::default());
/// let ptx = "
///     .version 7.0
///     .target sm_50
///     .address_size 64
///     .visible .entry store(.param .u64 out, .param .align 4 .b8 pair[8])
///     {
///         .reg .b32 %r<3>;
///         .reg .b64 %rd<2>;
///         ld.param.u64 %rd1, [out];
///         ld.param.u32 %r1, [pair];
///         ld.param.u32 %r2, [pair+4];
///         add.u32 %r1, %r1, %r2;
///         st.global.u32 [%rd1], %r1;
///         ret;
///     }";
/// let module = device.load(&Source::new("store.ptx", ptx))?;
/// let (kernel, stream) = (module.kernel("store")?, device.stream());
/// let out = device.alloc_slice::<u32>(1)?;
/// let launch = kernel.launcher().stream(&stream).arg(&out).value(&[40_u32, 2]);
/// // SAFETY: the kernel writes one number.
/// unsafe { launch.launch(&LaunchConfig::new([1; 3], [1; 3])) }?;
/// assert_eq!(out.to_vec()?, [42]);
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Launcher<'a> {
    kernel: &'a Kernel,
    stream: Option<&'a Stream>,
    args: Vec<Arg<'a>>,
}

impl Kernel {
    /// Begins a launch in the default stream.
    pub fn launcher(&self) -> Launcher<'_> {
        Launcher { kernel: self, stream: None, args: Vec::new() }
    }
}

impl<'a> Launcher<'a> {
    /// Sets the stream.
    #[must_use]
    pub fn stream(self, stream: &'a Stream) -> Self {
        Self { stream: Some(stream), ..self }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<Arg<'a>>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds a struct or an array by value. Its layout must match the kernel's source.
    #[must_use]
    pub fn value<T: Pod>(self, value: &'a T) -> Self {
        self.arg(Arg::Bytes(bytemuck::bytes_of(value)))
    }

    /// Launches the kernel.
    ///
    /// # Safety
    /// As for [`Kernel::launch`].
    ///
    /// # Errors
    /// [`Error::ArgumentKind`], and the errors of [`Kernel::launch_on`].
    pub unsafe fn launch(&self, config: &LaunchConfig) -> Result {
        for (index, (arg, param)) in self.args.iter().zip(self.kernel.params()).enumerate() {
            check_kind(self.kernel, index, arg, param)?;
        }
        match self.stream {
            // SAFETY: by the contract.
            Some(stream) => unsafe { self.kernel.launch_on(stream, config, &self.args) },
            // SAFETY: by the contract.
            None => unsafe { self.kernel.launch(config, &self.args) },
        }
    }
}

/// Fails for a float in an integer parameter, and vice versa. Untyped parameters accept both.
fn check_kind(kernel: &Kernel, index: usize, arg: &Arg<'_>, param: &Param) -> Result {
    let is_float = match arg {
        Arg::F32(_) | Arg::F64(_) => true,
        Arg::Bytes(_) => return Ok(()),
        _ => false,
    };
    let fits = match param.ty.chars().next() {
        Some('f') => is_float,
        Some('u' | 's') => !is_float,
        _ => true,
    };
    if fits {
        return Ok(());
    }
    Err(Error::ArgumentKind {
        kernel: kernel.name().to_owned(),
        index,
        param: param.name.clone(),
        ty: param.ty.clone(),
        given: if is_float { "a float" } else { "an integer or an address" },
    })
}

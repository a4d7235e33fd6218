//! Devices of the reference back end, and the functions that only they have.

use std::any::Any;

use crate::backend::reference::{ReferenceDevice, with_config};
use crate::device::Device;

impl Device {
    /// Opens a reference device with empty memory of its own.
    ///
    /// ```
    /// use ptx2spv_runtime::{Device, LaunchConfig, ReferenceOptions};
    /// use ptx2spv_translator::Source;
    ///
    /// let device = Device::reference(ReferenceOptions::default().check(true).config()?);
    /// let ptx = "
    ///     .version 7.0
    ///     .target sm_50
    ///     .address_size 64
    ///     .visible .entry beyond(.param .u64 out)
    ///     {
    ///         .reg .b64 %rd<2>;
    ///         ld.param.u64 %rd1, [out];
    ///         st.global.u32 [%rd1+64], 1;
    ///         ret;
    ///     }";
    /// let module = device.load(&Source::new("beyond.ptx", ptx))?;
    /// let out = device.upload(&[0_u32; 16])?;
    /// // SAFETY: the reference device checks every access.
    /// unsafe { module.kernel("beyond")?.launch(&LaunchConfig::new([1; 3], [1; 3]), &[(&out).into()]) }?;
    /// let error = device.synchronize().unwrap_err();
    /// assert!(error.to_string().contains("out-of-bounds access"), "{error}");
    /// # Ok::<(), ptx2spv_runtime::Error>(())
    /// ```
    pub fn reference(config: ptx2spv_reference::Config) -> Self {
        let (backend, info) = with_config(config);
        Self::new(backend, info, None)
    }

    /// The features that only the reference device has; `None` for Vulkan devices.
    pub fn as_reference(&self) -> Option<&ReferenceDevice> {
        (self.backend() as &dyn Any).downcast_ref()
    }
}

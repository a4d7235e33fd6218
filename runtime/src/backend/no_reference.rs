//! Stand-ins for the reference device in programs that are built without it.

use std::sync::Arc;

use crate::backend::Backend;
use crate::error::{Error, Result};
use crate::info::DeviceInfo;
use crate::info::options::ReferenceOptions;

/// Always fails.
pub(crate) fn open(_options: Option<&ReferenceOptions>) -> Result<(Arc<dyn Backend>, DeviceInfo)> {
    Err(Error::NoReference)
}

/// Always fails.
pub(crate) fn describe(_options: Option<&ReferenceOptions>) -> Result<DeviceInfo> {
    Err(Error::NoReference)
}

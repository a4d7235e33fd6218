//! What there is of the reference device in programs that are built without it.

use std::sync::Arc;

use crate::backend::Backend;
use crate::error::Error;
use crate::info::DeviceInfo;
use crate::options::ReferenceOptions;

/// There is none to be opened.
pub(crate) fn open(_options: Option<&ReferenceOptions>) -> Result<(Arc<dyn Backend>, DeviceInfo), Error> {
    Err(Error::NoReference)
}

/// There is nothing to be said of it.
pub(crate) fn describe(_options: Option<&ReferenceOptions>) -> Result<DeviceInfo, Error> {
    Err(Error::NoReference)
}

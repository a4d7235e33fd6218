//! Bindings of a module's texture, surface and sampler references.

use std::collections::HashMap;
use std::sync::Mutex;

use crate::memory::buffer::Buffer;
use crate::sync::lock;
use crate::texture::resource::Resource;

/// The bound objects, by variable name and index in an array of references.
#[derive(Default)]
pub(crate) struct Bindings(Mutex<HashMap<(String, u64), Bound>>);

/// The objects to keep alive while a reference is bound to them.
pub(crate) struct Bound {
    _resource: Resource,
    _levels: Option<Buffer>,
}

impl Bound {
    /// A resource, and the table of levels used by its record.
    pub fn new(resource: Resource, levels: Option<Buffer>) -> Self {
        Self { _resource: resource, _levels: levels }
    }
}

impl Bindings {
    /// Writes a reference's record, and keeps the bound objects alive from then on. If two threads bind the same
    /// reference, both steps happen in the same order.
    ///
    /// # Errors
    /// Those of `write`. The previous binding then remains.
    pub fn replace<E>(
        &self,
        reference: (String, u64),
        bound: Option<Bound>,
        write: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        let mut bindings = lock(&self.0);
        write()?;
        match bound {
            Some(bound) => bindings.insert(reference, bound),
            None => bindings.remove(&reference),
        };
        Ok(())
    }
}

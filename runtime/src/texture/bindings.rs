//! What the texture, surface and sampler references of a module are bound to.

use std::collections::HashMap;
use std::sync::Mutex;

use crate::buffer::Buffer;
use crate::sync::lock;
use crate::texture::resource::Resource;

/// What references are bound to, by the variable's name and the index in an array of references.
#[derive(Default)]
pub(crate) struct Bindings(Mutex<HashMap<(String, u64), Bound>>);

/// What lives as long as a reference is bound to it.
pub(crate) struct Bound {
    _resource: Resource,
    _levels: Option<Buffer>,
}

impl Bound {
    /// A resource, and the table of levels that its record refers to.
    pub fn new(resource: Resource, levels: Option<Buffer>) -> Self {
        Self { _resource: resource, _levels: levels }
    }
}

impl Bindings {
    /// Writes a reference's record, and keeps what the reference is bound to from then on. If two threads bind a reference, both do so in
    /// the same order.
    ///
    /// # Errors
    /// Those of `write`. Then the reference stays bound as it was.
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

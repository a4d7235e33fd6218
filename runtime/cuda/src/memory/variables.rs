//! The addresses of loaded modules' variables: the ranges of all devices, by which addresses in variables are found.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::{Arc, RwLock};

use ptx2spv_runtime::{Device, MemoryRange, Module};

use crate::abi::sync::{read, write};
use crate::context::Context;

/// The variables of a module.
#[derive(Clone)]
pub(crate) struct Variables {
    pub range: MemoryRange,
    pub device: Device,
    pub ordinal: c_int,
    /// The context that the module is destroyed with. Modules of libraries have none.
    pub context: Option<Arc<Context>>,
}

/// Variables of modules, by their first address.
static VARIABLES: RwLock<BTreeMap<u64, Variables>> = RwLock::new(BTreeMap::new());

/// The variables that contain an address.
pub(crate) fn find(address: u64) -> Option<Variables> {
    let all = read(&VARIABLES);
    let (&start, found) = all.range(..=address).next_back()?;
    (address - start < found.range.size).then(|| found.clone())
}

/// Keeps a module's variables known while it lives.
pub(crate) struct Known(Option<u64>);

impl Known {
    pub fn new(context: Option<Arc<Context>>, device: &Device, ordinal: c_int, module: &Module) -> Self {
        let range = module.memory();
        if let Some(range) = range {
            let variables = Variables { range, device: device.clone(), ordinal, context };
            write(&VARIABLES).insert(range.address, variables);
        }
        Self(range.map(|range| range.address))
    }
}

impl Drop for Known {
    fn drop(&mut self) {
        // The context may be dropped with the entry, after the lock.
        let _entry = self.0.and_then(|address| write(&VARIABLES).remove(&address));
    }
}

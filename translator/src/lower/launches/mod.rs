//! Launches from kernels: CUDA's device runtime, with which kernels launch other kernels, copy and set memory in stream order, and query
//! the device.
//!
//! A kernel's requests become records in the region that [`ptx2spv_interface::launches`] describes, and the host executes them when the grid
//! has ended. Executing them one after the other obeys the rules of all streams and events, so these only need distinct handles.
//! `call` finds functions by name, `functions` has their code: `launch` and `copies` write records, and `queries` answers queries.

mod copies;
mod functions;
mod launch;
mod queries;
mod site;
mod table;

pub use site::clear_error;
pub use table::add_table;

use super::lowering::Lowering;
use crate::diagnostic::Result;
use crate::ir::Value;
use ptx2spv_interface::launches;
use site::Site;

/// Address of the word that counts requests.
pub fn order_word(l: &mut Lowering<'_, '_>) -> Result<Value> {
    let site = Site::of(l)?;
    Ok(site.address(&l.b, launches::ORDER))
}

/// Address of the word that counts completed requests.
pub fn completed_word(l: &mut Lowering<'_, '_>) -> Result<Value> {
    let site = Site::of(l)?;
    Ok(site.address(&l.b, launches::COMPLETED))
}

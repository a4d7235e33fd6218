//! Places fused multiply-adds that are written as dot products.
//!
//! Some drivers fuse dot products ([`Facts::dot_f32_fused`](ptx2spv_target::Facts::dot_f32_fused)): they split each into
//! a product and a sum, and fuse these if both end up in one basic block. If only later blocks need the result,
//! NVIDIA's driver moves the sum there and may leave the product behind, which rounds twice. `sink_fused` moves both to where
//! the result is needed. `pin_fused` keeps in its place what a driver that knows more could still move.
//!
//! Both ask one analysis, [`needs`]: [`dependents`] marks what depends on a dot product, [`known`] and [`paths`] follow what is
//! known on each path.

mod code;
mod dependents;
mod known;
mod needs;
mod paths;
mod pin;
mod sink;

pub use pin::pin_fused;
pub use sink::sink_fused;

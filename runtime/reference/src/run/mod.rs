//! Runs [`Code`]: the interpreter's loop, and scheduling.
//!
//! [`step`] runs one invocation, [`workgroup`] the invocations of a workgroup including joint operations ([`group`],
//! [`convergence`]), and [`schedule`] the workgroups of a dispatch. They act on a [`world::World`]: [`plain`] or
//! [`strict`].

mod arrivals;
mod builtin;
mod convergence;
mod direct;
mod findings;
mod group;
mod lane;
mod launch;
mod matrix;
mod plain;
mod private;
mod schedule;
mod step;
mod strict;
#[cfg(test)]
mod tests;
mod trace;
mod workgroup;
mod world;

pub(crate) use findings::Findings;
pub(crate) use launch::{Launch, Log, Program, lock};
pub(crate) use plain::run as run_plain;
pub(crate) use strict::Knowledge;

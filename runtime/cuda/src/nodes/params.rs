//! Functions that read the parameters of graph nodes, and the attributes of kernel nodes.

use std::ffi::c_uint;

use crate::abi::code::{Code, INVALID_VALUE};
use crate::abi::raw::{In, Out};
use crate::abi::sync::lock;
use crate::context::state;
use crate::graph::command::{self, Command, Description, SharedCommand};
use crate::graph::launch_order::Child;
use crate::graph::{GraphHandle, NodeHandle};
use crate::launch::Launch;
use crate::memory::graph_memory::{Allocate, AllocateParams, Free};
use crate::nodes;
use crate::stream::event::{EventHandle, Record, Wait};
use crate::stream::launch_attributes::Value;

/// The command of a node.
pub(crate) fn command_of(node: NodeHandle) -> Result<SharedCommand, Code> {
    state::device()?;
    let node = node.get()?;
    let command = lock(&node.command);
    Ok(command.clone())
}

/// What a function reads from a node's command, which must have the type.
fn read<T: Command, P>(node: NodeHandle, read: impl FnOnce(&T) -> P) -> Result<P, Code> {
    let command = command_of(node)?;
    Ok(read(command::of_type(&command).ok_or(INVALID_VALUE)?))
}

/// The description of a node's command.
pub(crate) fn params<T: Description>(node: NodeHandle) -> Result<T, Code> {
    read(node, T::of)
}

pub(crate) fn get<T: Description>(node: NodeHandle, place: Out<T>) -> Result<(), Code> {
    place.needed()?.set(params(node)?)
}

pub(crate) fn graph(node: NodeHandle, graph: Out<GraphHandle>) -> Result<(), Code> {
    graph.needed()?.set(read(node, |child: &Child| child.handle)?)
}

pub(crate) fn record(node: NodeHandle, event: Out<EventHandle>) -> Result<(), Code> {
    event.needed()?.set(read(node, |record: &Record| record.0.handle)?)
}

pub(crate) fn wait(node: NodeHandle, event: Out<EventHandle>) -> Result<(), Code> {
    event.needed()?.set(read(node, |wait: &Wait| wait.0.handle)?)
}

pub(crate) fn allocation(node: NodeHandle, params: Out<AllocateParams>) -> Result<(), Code> {
    params.needed()?.set(read(node, Allocate::params)?)
}

pub(crate) fn free(node: NodeHandle, address: Out<u64>) -> Result<(), Code> {
    address.needed()?.set(read(node, |free: &Free| free.address)?)
}

pub(crate) fn attribute(node: NodeHandle, number: c_uint, value: Out<Value>) -> Result<(), Code> {
    let value = value.needed()?;
    let command = command_of(node)?;
    let launch: &Launch = command::of_type(&command).ok_or(INVALID_VALUE)?;
    value.set(launch.attributes().of_node(number)?)
}

pub(crate) fn set_attribute(node: NodeHandle, number: c_uint, value: In<Value>) -> Result<(), Code> {
    let command = command_of(node)?;
    let launch: &Launch = command::of_type(&command).ok_or(INVALID_VALUE)?;
    let mut attributes = launch.attributes().clone();
    attributes.set_of_node(number, value.get()?)?;
    nodes::set(node, || launch.with_attributes(attributes))
}

pub(crate) fn copy_attributes(to: NodeHandle, from: NodeHandle) -> Result<(), Code> {
    let (from, command) = (command_of(from)?, command_of(to)?);
    let from: &Launch = command::of_type(&from).ok_or(INVALID_VALUE)?;
    let launch: &Launch = command::of_type(&command).ok_or(INVALID_VALUE)?;
    nodes::set(to, || launch.with_attributes(from.attributes().clone()))
}

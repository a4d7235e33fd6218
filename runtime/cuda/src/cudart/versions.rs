//! Functions whose parameters differ between versions. Each has the longest list of parameters, and ignores those that
//! the program's version doesn't pass.

use std::ffi::{c_char, c_uint};

use crate::abi::{Handle, In, Memory, Out, Result};
use crate::cudart::node;
use crate::cudart::types::Location;
use crate::cudart::version::{self, Version};
use crate::graph::launch_order::ExecHandle;
use crate::graph::{GraphHandle, NodeHandle};
use crate::memory::{copy, managed};
use crate::nodes;
use crate::nodes::exec::{self, UpdateResult};
use crate::stream::{StreamHandle, capture};

/// Before version 13 the last parameter is a device, since then a location.
pub(crate) fn advise(address: u64, bytes: usize, advice: c_uint, place: Location) -> Result {
    let device = match version::of_program()? {
        Version::V13 => place.device()?,
        // The first half of the register.
        Version::V11 | Version::V12 => place.kind,
    };
    managed::advise(address, bytes, advice, device)
}

/// Before version 13: a device and a stream. Since then: a location, flags and a stream.
pub(crate) fn prefetch(
    address: u64,
    bytes: usize,
    place: Location,
    flags_or_stream: usize,
    stream: StreamHandle,
) -> Result {
    match version::of_program()? {
        Version::V13 => prefetch_to_place(address, bytes, place, flags_or_stream as c_uint, stream),
        Version::V11 | Version::V12 => {
            managed::prefetch(address, bytes, place.kind, Handle::from_value(flags_or_stream))
        }
    }
}

pub(crate) fn prefetch_to_place(
    address: u64,
    bytes: usize,
    place: Location,
    flags: c_uint,
    stream: StreamHandle,
) -> Result {
    managed::prefetch_on(address, bytes, place.device()?, flags, stream)
}

/// In version 11: an error node and a log. Later: flags.
pub(crate) fn instantiate(
    graph: GraphHandle,
    flags_or_node: u64,
    log: Out<c_char>,
    log_size: usize,
) -> Result<ExecHandle> {
    match version::of_program()? {
        Version::V11 => {
            let node = Memory::from_address(flags_or_node).as_out();
            exec::instantiate(graph, node, log, log_size)
        }
        Version::V12 | Version::V13 => exec::instantiate_with_flags(graph, flags_or_node),
    }
}

/// In version 11: an error node and a result. Later: a structure with both.
pub(crate) fn update(exec: ExecHandle, graph: GraphHandle, info: Memory, result: Out<c_uint>) -> Result {
    if version::of_program()? != Version::V11 {
        return exec::update(exec, graph, info.as_out());
    }
    let mut found = UpdateResult { result: 0, node: Handle::NULL, from: Handle::NULL };
    let updated = exec::update(exec, graph, Out::from(&mut found));
    info.as_out().set_if_any(found.node);
    result.set_if_any(found.result);
    updated
}

/// The edge data, which functions have before `count` since version 13, and the count.
pub(crate) fn data_and_count(data_or_count: usize, count: usize) -> Result<(In<u64>, usize)> {
    Ok(match version::of_program()? {
        Version::V13 => (Memory::from_address(data_or_count as u64).as_in(), count),
        Version::V11 | Version::V12 => (Memory::NULL.as_in(), data_or_count),
    })
}

/// Like [`data_and_count`], for functions that write both.
pub(crate) fn places(data_or_count: Memory, count: Out<usize>) -> Result<(Out<u64>, Out<usize>)> {
    Ok(match version::of_program()? {
        Version::V13 => (data_or_count.as_out(), count),
        Version::V11 | Version::V12 => (Out::null(), data_or_count.as_out()),
    })
}

pub(crate) fn add_node(
    graph: GraphHandle,
    after: In<NodeHandle>,
    data_or_count: usize,
    count_or_params: usize,
    params: Memory,
) -> Result<NodeHandle> {
    let data_and_count = data_and_count(data_or_count, count_or_params)?;
    let is_later = version::of_program()? == Version::V13;
    let params = if is_later { params } else { Memory::from_address(count_or_params as u64) };
    nodes::add_any(graph, after, data_and_count, params, node::command)
}

/// Before version 13 there is a place for the copy that failed before the stream.
pub(crate) fn copy_all(
    to: In<Memory>,
    from: In<Memory>,
    bytes: In<usize>,
    count: usize,
    attributes: In<copy::BatchAttributes>,
    firsts: In<usize>,
    attribute_count: usize,
    failed_or_stream: Memory,
    stream: StreamHandle,
) -> Result {
    match version::of_program()? {
        Version::V13 => {
            let stream = StreamHandle::from_value(failed_or_stream.address() as usize);
            copy::copy_all(to, from, bytes, count, attributes, firsts, attribute_count, stream)
        }
        Version::V11 | Version::V12 => {
            let failed = failed_or_stream.as_out();
            copy::copy_all_v1(to, from, bytes, count, attributes, firsts, attribute_count, failed, stream)
        }
    }
}

/// Before version 13 there are three out-parameters, since then seven.
pub(crate) fn capture_info(
    stream: StreamHandle,
    status: Out<c_uint>,
    id: Out<u64>,
    graph: Out<GraphHandle>,
    after: Out<*const NodeHandle>,
    edges: Out<usize>,
    count: Out<usize>,
) -> Result {
    match version::of_program()? {
        Version::V13 => capture::info(stream, status, id, graph, after, edges, count),
        Version::V11 | Version::V12 => {
            capture::info(stream, status, id, Out::null(), Out::null(), Out::null(), Out::null())
        }
    }
}

pub(crate) fn update_dependencies(
    stream: StreamHandle,
    nodes: In<NodeHandle>,
    data_or_count: usize,
    count_or_flags: usize,
    flags: c_uint,
) -> Result {
    match version::of_program()? {
        Version::V13 => {
            let data = Memory::from_address(data_or_count as u64).as_in();
            capture::update_dependencies(stream, nodes, (data, count_or_flags), flags)
        }
        Version::V11 | Version::V12 => {
            capture::update_dependencies(stream, nodes, (Memory::NULL.as_in(), data_or_count), count_or_flags as c_uint)
        }
    }
}

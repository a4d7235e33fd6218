//! Streams and events created without flags.

use crate::abi::code::Code;
use crate::abi::raw::Out;
use crate::stream::event::{self, EventHandle};
use crate::stream::{self, StreamHandle};

pub(crate) fn stream(stream: Out<StreamHandle>) -> Result<(), Code> {
    stream::create(stream, 0)
}

pub(crate) fn event(event: Out<EventHandle>) -> Result<(), Code> {
    event::create(event, 0)
}

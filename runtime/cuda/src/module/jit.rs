//! The options of `cuModuleLoadDataEx` and similar functions. Only those for logs have an effect.

use std::ffi::c_uint;

use crate::abi::{INVALID_VALUE, In, Memory, Out, Result};

/// The caller's buffers for messages.
#[derive(Default)]
pub(crate) struct Options {
    info: Log,
    error: Log,
}

#[derive(Default)]
struct Log {
    text: Option<Memory>,
    /// The size of the buffer, and the place of the option's value, where the length of the text is written.
    size: Option<(usize, Memory)>,
}

/// More options than there are kinds.
const MOST: c_uint = 64;

/// `CU_JIT_INFO_LOG_BUFFER` and the options after it.
const INFO_LOG: c_uint = 3;
const INFO_LOG_SIZE: c_uint = 4;
const ERROR_LOG: c_uint = 5;
const ERROR_LOG_SIZE: c_uint = 6;

impl Options {
    /// Reads `count` options. Values are stored in the pointers themselves.
    pub fn read(count: c_uint, options: In<c_uint>, values: Out<usize>) -> Result<Self> {
        if count > MOST {
            return Err(INVALID_VALUE);
        }
        let mut read = Self::default();
        for index in 0..count as usize {
            let place = values.at(index);
            let value = place.as_in().get()?;
            match options.at(index)? {
                INFO_LOG => read.info.text = Some(Memory::from_address(value as u64)),
                // Sizes are 32-bit numbers; the upper half is undefined.
                INFO_LOG_SIZE => read.info.size = Some((value & 0xffff_ffff, place.into())),
                ERROR_LOG => read.error.text = Some(Memory::from_address(value as u64)),
                ERROR_LOG_SIZE => read.error.size = Some((value & 0xffff_ffff, place.into())),
                _ => {}
            }
        }
        Ok(read)
    }

    /// Clears the logs.
    pub fn begin(&self) -> Result {
        self.info.write("")?;
        self.error.write("")
    }

    /// Writes an error to the error log.
    pub fn fail(&self, error: &str) -> Result {
        self.error.write(error)
    }
}

impl Log {
    fn write(&self, text: &str) -> Result {
        let (Some(memory), Some((room, written))) = (self.text, self.size) else { return Ok(()) };
        let len = text.len().min(room.saturating_sub(1));
        if !memory.is_null() && room > 0 {
            let place = memory.bytes_mut(len as u64 + 1)?;
            place[..len].copy_from_slice(&text.as_bytes()[..len]);
            place[len] = 0;
        }
        written.as_out::<usize>().set(len)
    }
}

//! Attributes of launches, kernel nodes and streams: numbers with a value of 64 bytes.

use std::ffi::c_uint;

use smallvec::{SmallVec, smallvec};

use crate::abi::{INVALID_VALUE, NOT_SUPPORTED, Result};

/// `CUlaunchAttributeValue`: a union. Clusters use the first three numbers, events the first two, most attributes the
/// first.
pub(crate) type Value = [c_uint; 16];

/// Attributes that have an effect.
const COOPERATIVE: c_uint = 2;
const CLUSTER: c_uint = 4;
/// Events that are recorded when all blocks have called `griddepcontrol.launch_dependents`, and when all have begun. A
/// program can't tell if that is late, so both are recorded when the launch has finished.
const PROGRAMMATIC_EVENT: c_uint = 7;
const COMPLETION_EVENT: c_uint = 12;

/// The synchronization policy, whose default is 1, automatic.
const SYNCHRONIZATION: c_uint = 3;
pub(crate) const PRIORITY: c_uint = 8;
/// The map of memory domains: two bytes, by default 0 and 1.
const DOMAIN_MAP: c_uint = 9;

/// Hints without effect: ignore, access policy, synchronization policy, cluster scheduling, programmatic dependent
/// launch (which permits a kernel to start early, but doesn't require it), priority, memory domains, preferred cluster
/// size, carve-out.
const HINTS: [c_uint; 10] = [0, 1, 3, 5, 6, 8, 9, 10, 11, 14];

/// The attributes of a stream: access policy, synchronization policy, priority, memory domains.
const OF_STREAMS: [c_uint; 5] = [1, 3, 8, 9, 10];

/// The attributes of a kernel node.
const OF_NODES: [c_uint; 10] = [1, 2, 4, 5, 8, 9, 10, 11, 13, 14];

/// Attributes that were set, with their values. A few need no allocation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attributes(SmallVec<[(c_uint, Value); 4]>);

impl Attributes {
    pub fn cooperative() -> Self {
        let mut value = Value::default();
        value[0] = 1;
        Self(smallvec![(COOPERATIVE, value)])
    }

    pub fn set(&mut self, number: c_uint, value: Value) -> Result {
        let has_effect = [COOPERATIVE, CLUSTER, PROGRAMMATIC_EVENT, COMPLETION_EVENT].contains(&number);
        if !has_effect && !HINTS.contains(&number) {
            return Err(NOT_SUPPORTED.because(format!("launch attribute {number}")));
        }
        match self.0.iter_mut().find(|(known, _)| *known == number) {
            Some((_, place)) => *place = value,
            None => self.0.push((number, value)),
        }
        Ok(())
    }

    pub fn set_of_stream(&mut self, number: c_uint, value: Value) -> Result {
        if OF_STREAMS.contains(&number) { self.set(number, value) } else { Err(INVALID_VALUE) }
    }

    pub fn set_of_node(&mut self, number: c_uint, value: Value) -> Result {
        if OF_NODES.contains(&number) { self.set(number, value) } else { Err(INVALID_VALUE) }
    }

    pub fn of_stream(&self, number: c_uint) -> Result<Value> {
        if OF_STREAMS.contains(&number) { Ok(self.value(number)) } else { Err(INVALID_VALUE) }
    }

    /// The value of a kernel node's attribute.
    pub fn of_node(&self, number: c_uint) -> Result<Value> {
        if OF_NODES.contains(&number) { Ok(self.value(number)) } else { Err(INVALID_VALUE) }
    }

    pub fn has(&self, number: c_uint) -> bool {
        self.get(number).is_some()
    }

    fn get(&self, number: c_uint) -> Option<Value> {
        self.0.iter().find(|(known, _)| *known == number).map(|(_, value)| *value)
    }

    fn value(&self, number: c_uint) -> Value {
        self.get(number).unwrap_or_else(|| {
            let mut value = Value::default();
            value[0] = match number {
                SYNCHRONIZATION => 1,
                DOMAIN_MAP => u32::from_ne_bytes([0, 1, 0, 0]),
                _ => 0,
            };
            value
        })
    }

    /// The size of a cluster in blocks.
    pub fn cluster(&self) -> Option<[u32; 3]> {
        let [x, y, z, ..] = self.value(CLUSTER);
        Some([x, y, z]).filter(|size| !matches!(size, [0, 0, 0] | [1, 1, 1]))
    }

    /// Whether blocks may wait for each other.
    pub fn is_cooperative(&self) -> bool {
        self.value(COOPERATIVE)[0] != 0
    }

    /// Handles of the events that are recorded after the launch.
    pub fn events(&self) -> impl Iterator<Item = usize> {
        let values = [PROGRAMMATIC_EVENT, COMPLETION_EVENT].into_iter().filter_map(|number| self.get(number));
        values.map(|value| value[0] as usize | (value[1] as usize) << 32)
    }
}

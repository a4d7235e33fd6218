//! What runs out: time and memory. The device goes on working.

use std::sync::mpsc::channel;
use std::time::Duration;

use ptx2spv_runtime::Error;

use crate::Context;

#[test]
fn waits_end_at_their_limit() {
    for context in Context::several() {
        let device = &context.device;
        let (stream, event, buffer) = (device.stream(), device.event(), device.alloc(64).unwrap());
        let (go, gone) = channel::<()>();
        stream.call(move || gone.recv().unwrap_or_default()).unwrap();
        event.record(&stream).unwrap();
        device.set_wait_limit(Some(Duration::from_millis(1)));
        let late = [
            stream.synchronize(),
            event.synchronize(),
            device.synchronize(),
            // Comes after the function.
            stream.set_8(buffer.address(), 1, 64),
            buffer.read(0, &mut [0]),
        ];
        assert!(late.iter().all(|wait| matches!(wait, Err(Error::Timeout))), "{late:?}");
        // Other streams go on.
        let other = device.non_blocking_stream();
        device.set_wait_limit(None);
        other.set_8(buffer.address(), 2, 64).unwrap();
        other.synchronize().unwrap();
        go.send(()).unwrap();
        stream.synchronize().unwrap();
        assert_eq!(buffer.download::<u8>().unwrap(), [2; 64]);
        drop((stream, other, event, buffer));
        context.finish();
    }
}

#[test]
fn memory_that_is_not_there() {
    for context in Context::several() {
        let device = &context.device;
        let (memory, stream) = (device.memory(), device.stream());
        for bytes in [1 << 50, u64::MAX] {
            let refused = [
                device.alloc(bytes).map(|_| ()),
                device.alloc_pinned(bytes).map(|_| ()),
                memory.allocate_managed(bytes).map(|_| ()),
                stream.allocate(bytes).map(|_| ()),
            ];
            let is_right = |result: &Result<(), Error>| {
                matches!(result, Err(Error::BufferTooLarge { .. } | Error::OutOfMemory(_)))
            };
            assert!(refused.iter().all(is_right), "{refused:?}");
        }
        assert_eq!(device.default_pool().usage().reserved_high, 0);
        assert_eq!(device.upload(&[7_u8; 3]).unwrap().download::<u8>().unwrap(), [7; 3]);
        drop(stream);
        context.finish();
    }
}

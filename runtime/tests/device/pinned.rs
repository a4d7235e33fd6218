//! Memory that host and device can access, and copies of rows between all kinds of memory.

use ptx2spv_runtime::{Arg, CopySide, DeviceKind, Error, Extent, LaunchConfig, PinnedKind};

use crate::{Context, Launch};

#[test]
fn kernels_reach_pinned_memory() {
    for context in Context::several() {
        let (kernel, stream) = (context.kernel("step"), context.device.stream());
        let mut pinned = context.device.alloc_pinned(1024).unwrap();
        assert_eq!((pinned.address() % 256, pinned.len()), (0, 1024));
        // SAFETY: nothing was launched.
        let numbers = bytemuck::cast_slice_mut(unsafe { pinned.bytes_mut() });
        numbers.iter_mut().zip(0_u32..).for_each(|(number, i)| *number = i);
        for by in [5_u32, 7] {
            let args = [Arg::Address(pinned.address()), by.into()];
            // SAFETY: the buffer has 256 numbers.
            unsafe { kernel.launch_on(&stream, &LaunchConfig::linear(256, 64), &args) }.unwrap();
        }
        stream.synchronize().unwrap();
        // SAFETY: all launches have finished.
        let found: &[u32] = bytemuck::cast_slice(unsafe { pinned.bytes() });
        assert_eq!(found, (0..256).map(|i| (3 * i + 5) * 3 + 7).collect::<Vec<_>>());
    }
}

#[test]
fn pinned_memory_is_found_from_both_sides() {
    for context in Context::several() {
        let memory = context.device.memory();
        let pinned = memory.allocate_pinned(100).unwrap();
        assert_eq!(pinned.kind, PinnedKind::Pinned);
        for offset in [0, 99] {
            assert_eq!(memory.find_pinned(pinned.host + offset), Some(pinned));
            assert_eq!(memory.find_mapped(pinned.address + offset), Some(pinned));
        }
        assert_eq!((memory.find_pinned(pinned.host + 100), memory.find_pinned(pinned.host - 1)), (None, None));
        let plain = context.device.alloc(8).unwrap();
        assert_eq!(memory.find_mapped(plain.address()), None);
        // The address is an ordinary one.
        memory.set(pinned.address + 1, 9_u8, 98).unwrap();
        let mut bytes = [0; 2];
        memory.read(pinned.address + 97, &mut bytes).unwrap();
        assert_eq!(bytes, [9; 2]);
        // SAFETY: nothing uses the memory any more.
        unsafe { memory.free(pinned.address) }.unwrap();
        assert_eq!((memory.find_pinned(pinned.host), memory.find_mapped(pinned.address)), (None, None));
    }
}

#[test]
fn registered_memory_is_the_hosts() {
    for context in Context::several() {
        let memory = context.device.memory();
        let mut numbers: Vec<u32> = (0..3000).collect();
        let pointer = numbers.as_mut_ptr().cast();
        // SAFETY: the vector lives longer, and is used when the device has nothing to do.
        let registered = match unsafe { memory.register(pointer, 12_000) } {
            Ok(registered) => registered,
            Err(Error::NotRegistered { reason, .. }) if reason.contains("VK_EXT_external_memory_host") => continue,
            Err(error) => panic!("{error}"),
        };
        assert_eq!((registered.host, registered.kind), (pointer as u64, PinnedKind::Registered));
        // SAFETY: as above.
        let again = unsafe { memory.register(pointer.wrapping_add(11_996), 8) };
        assert!(matches!(&again, Err(Error::NotRegistered { .. })), "{again:?}");
        memory.set(registered.address + 4, 77_u32, 2).unwrap();
        let step = context.kernel("step");
        step.run(&LaunchConfig::linear(256, 64), &[Arg::Address(registered.address + 4000), 1_u32.into()]).unwrap();
        context.device.synchronize().unwrap();
        // SAFETY: the device has finished, and the memory stays the host's.
        unsafe { memory.free(registered.address) }.unwrap();
        context.device.synchronize().unwrap();
        let expected = |i: u32| match i {
            1 | 2 => 77,
            1000..1256 => 3 * i + 1,
            _ => i,
        };
        assert_eq!(numbers, (0..3000).map(expected).collect::<Vec<_>>());
        assert_eq!(memory.find_pinned(pointer as u64), None);
        for (pointer, bytes) in [(std::ptr::null_mut(), 4), (pointer, 0)] {
            // SAFETY: the call is refused.
            let none = unsafe { memory.register(pointer, bytes) };
            assert!(matches!(&none, Err(Error::NotRegistered { .. })), "{none:?}");
        }
    }
}

/// Host and device see each other's writes at the same address.
#[test]
fn managed_memory_has_one_address() {
    for context in Context::several() {
        let memory = context.device.memory();
        let has = context.device.has_managed_memory();
        if matches!(context.device.info().kind, DeviceKind::Cpu | DeviceKind::Reference) && cfg!(unix) {
            assert!(has, "{}", context.device.info().name);
        }
        match memory.allocate_managed(1024) {
            Ok(managed) => {
                assert!(has);
                assert_eq!((managed.host, managed.kind), (managed.address, PinnedKind::Managed));
                let kernel = context.kernel("step");
                let numbers = managed.pointer().cast::<u32>();
                for i in 0..256 {
                    // SAFETY: there are 256 numbers, and nothing was launched.
                    unsafe { numbers.add(i).write(10 * i as u32) };
                }
                kernel.run(&LaunchConfig::linear(256, 64), &[Arg::Address(managed.address), 4_u32.into()]).unwrap();
                context.device.synchronize().unwrap();
                // SAFETY: all launches have finished.
                let found: Vec<u32> = (0..256).map(|i| unsafe { numbers.add(i).read() }).collect();
                assert_eq!(found, (0..256).map(|i| 30 * i + 4).collect::<Vec<_>>());
                // SAFETY: nothing uses the memory any more.
                unsafe { memory.free(managed.address) }.unwrap();
            }
            Err(error) => assert!(matches!(error, Error::NoManagedMemory { .. }) && !has, "{error}"),
        }
    }
}

/// The start of a side's rows, with room for all of them: bytes of the side, then pitches.
const SIDES: [(u64, u64, u64); 3] = [(120, 5, 20), (220, 8, 40), (340, 16, 64)];

/// All pairs of memory, with the expected result in host memory.
#[test]
fn rows_between_all_kinds_of_memory() {
    for context in Context::several() {
        let (device, stream) = (&context.device, context.device.stream());
        let mut large = 0;
        for ((from_size, from_row, from_slice), (to_size, to_row, to_slice)) in
            SIDES.into_iter().flat_map(|from| SIDES.map(|to| (from, to)))
        {
            // A size that doesn't fit where small ones are staged.
            let many = if from_row == 8 && to_row == 16 { 3000 } else { 1 };
            large += many / 3000;
            for (width, height, depth) in [(5, 3, 2), (3, 4, 1), (1, 1, 5), (5, 4, 5 * many)] {
                let extent = Extent { width, height, depth };
                let source: Vec<u8> = (0..from_size * many).map(|i| ((i * 37) >> 2) as u8).collect();
                let target = vec![0xee_u8; (to_size * many) as usize];
                let mut expected = target.clone();
                for (z, y, x) in
                    (0..depth).flat_map(|z| (0..height).flat_map(move |y| (0..width).map(move |x| (z, y, x))))
                {
                    expected[(3 + x + to_row * y + to_slice * z) as usize] =
                        source[(1 + x + from_row * y + from_slice * z) as usize];
                }
                for (from_kind, to_kind) in (0..3).flat_map(|from| (0..3).map(move |to| (from, to))) {
                    let memories = [&source, &target].map(|bytes| {
                        let plain = device.upload(bytes).unwrap();
                        let mut pinned = device.alloc_pinned(bytes.len() as u64).unwrap();
                        // SAFETY: the device doesn't use it yet.
                        unsafe { pinned.bytes_mut() }.copy_from_slice(bytes);
                        (plain, pinned, bytes.clone())
                    });
                    let [source, mut target] = memories;
                    let from = match from_kind {
                        0 => CopySide::device(source.0.address() + 1),
                        1 => CopySide::host(source.1.as_ptr().wrapping_add(1)),
                        _ => CopySide::host(source.2.as_ptr().wrapping_add(1)),
                    };
                    let to = match to_kind {
                        0 => CopySide::device(target.0.address() + 3),
                        1 => CopySide::host(target.1.as_ptr().wrapping_add(3)),
                        _ => CopySide::host(target.2.as_mut_ptr().wrapping_add(3)),
                    };
                    let from = from.row_pitch(from_row).slice_pitch(from_slice);
                    let to = to.row_pitch(to_row).slice_pitch(to_slice);
                    // SAFETY: all rows are inside the vectors, which no other code uses meanwhile.
                    unsafe { stream.copy_rows(from, to, extent) }.unwrap();
                    stream.synchronize().unwrap();
                    let found = match to_kind {
                        0 => target.0.download().unwrap(),
                        // SAFETY: the stream has finished.
                        1 => unsafe { target.1.bytes() }.to_vec(),
                        _ => target.2,
                    };
                    assert!(found == expected, "{extent:?} {from:?} {to:?}");
                }
            }
        }
        assert_eq!(large, 1);
    }
}

#[test]
fn rows_that_do_not_fit_are_refused() {
    for context in Context::several() {
        let (device, stream) = (&context.device, context.device.stream());
        let (buffer, pinned) = (device.alloc(64).unwrap(), device.alloc_pinned(64).unwrap());
        let host = [0_u8; 64];
        let copy = |from: CopySide, to: CopySide, extent| {
            // SAFETY: the call is refused, or copies no bytes.
            unsafe { stream.copy_rows(from, to, extent) }
        };
        let (there, rows) = (CopySide::device(buffer.address()).row_pitch(16), Extent::rows(8, 4));
        let outside = [
            copy(
                CopySide::host(host.as_ptr()).row_pitch(8),
                CopySide::device(buffer.address() + 9).row_pitch(16),
                rows,
            ),
            copy(CopySide::host(pinned.as_ptr().wrapping_add(9)).row_pitch(16), there, rows),
        ];
        for error in outside {
            assert!(matches!(error, Err(Error::OutOfRange { .. })), "{error:?}");
        }
        assert!(matches!(copy(there.row_pitch(4), there, rows), Err(Error::Pitch { pitch: 4, least: 8 })));
        let shifted = CopySide::device(buffer.address() + 7).row_pitch(16);
        assert!(matches!(copy(there, shifted, Extent::rows(8, 3)), Err(Error::Overlap)));
        let nowhere = CopySide::device(8).row_pitch(16);
        assert!(matches!(copy(nowhere, there, rows), Err(Error::NotAllocated { address: 8 })));
        copy(nowhere, there, Extent::rows(8, 0)).unwrap();
    }
}

#[test]
fn sets_of_rows() {
    for context in Context::several() {
        let (device, stream) = (&context.device, context.device.stream());
        for (element, start, pitch) in [(1, 1, 13), (1, 3, 16), (2, 2, 18), (4, 4, 20), (4, 8, 12)] {
            let (size, width, height) = (120_usize, 3, 5);
            let buffer = device.upload(&vec![0xee_u8; size]).unwrap();
            let (at, value) = (buffer.address() + start, 0x0403_0201_u32);
            match element {
                1 => stream.set_rows(at, pitch, value as u8, width, height),
                2 => stream.set_rows(at, pitch, value as u16, width, height),
                _ => stream.set_rows(at, pitch, value, width, height),
            }
            .unwrap();
            let mut expected = vec![0xee_u8; size];
            for (row, i) in (0..height).flat_map(|row| (0..width).map(move |i| (row, i))) {
                let place = (start + row * pitch + i * element) as usize;
                expected[place..place + element as usize].copy_from_slice(&value.to_le_bytes()[..element as usize]);
            }
            assert_eq!(buffer.download::<u8>().unwrap(), expected, "{element} at {start}, {pitch} apart");
        }
        let buffer = device.alloc(64).unwrap();
        let refused = stream.set_rows(buffer.address(), 18, 1_u32, 4, 2);
        assert!(matches!(refused, Err(Error::Pitch { pitch: 18, least: 4 })), "{refused:?}");
        let refused = stream.set_rows(buffer.address(), 32, 1_u8, 33, 2);
        assert!(matches!(refused, Err(Error::Pitch { pitch: 32, least: 33 })), "{refused:?}");
        let refused = stream.set_rows(buffer.address(), 32, 1_u16, 17, 2);
        assert!(matches!(refused, Err(Error::Pitch { .. })), "{refused:?}");
        let refused = stream.set_rows(buffer.address() + 1, 32, 1_u8, 32, 2);
        assert!(matches!(refused, Err(Error::OutOfRange { .. })), "{refused:?}");
        stream.set_rows(buffer.address(), 0, 1_u16, 32, 1).unwrap();
    }
}

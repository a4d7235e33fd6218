//! What launches allocate on the host. A test program of its own: its allocator counts.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use ptx2spv_runtime::{Arg, Device, DeviceSelector, Error, LaunchConfig};
use ptx2spv_translator::Source;

/// The system's allocator, which counts what each thread asks for.
struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    COUNT.set(COUNT.get() + 1);
}

// SAFETY: all is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: by the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: by the contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: by the contract.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: by the contract.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// A kernel with its parameters in push constants, one with so many that they lie in device memory, one that may report something,
/// and one with more shared memory than some devices have.
const PTX: &str = "
    .version 7.0
    .target sm_50
    .address_size 64
    .visible .entry few(.param .u64 out, .param .u32 by)
    {
        .reg .b32 %r<2>;
        .reg .b64 %rd<2>;
        ld.param.u64 %rd1, [out];
        ld.param.u32 %r1, [by];
        red.global.add.u32 [%rd1], %r1;
        ret;
    }
    .visible .entry many(.param .u64 out, .param .align 4 .b8 by[4000])
    {
        .reg .b32 %r<2>;
        .reg .b64 %rd<2>;
        ld.param.u64 %rd1, [out];
        ld.param.u32 %r1, [by+3996];
        red.global.add.u32 [%rd1], %r1;
        ret;
    }
    .visible .entry reports(.param .u64 out, .param .u32 by)
    {
        .reg .pred %p;
        .reg .b32 %r<2>;
        .reg .b64 %rd<2>;
        ld.param.u64 %rd1, [out];
        ld.param.u32 %r1, [by];
        setp.ne.u32 %p, %r1, 1;
        @%p trap;
        red.global.add.u32 [%rd1], %r1;
        ret;
    }
    .extern .shared .align 4 .b8 room[];
    .visible .entry shares(.param .u64 out, .param .u32 by)
    {
        .reg .b32 %r<2>;
        .reg .b64 %rd<2>;
        ld.param.u64 %rd1, [out];
        ld.param.u32 %r1, [by];
        st.shared.u32 [room+65532], %r1;
        ld.shared.u32 %r1, [room+65532];
        red.global.add.u32 [%rd1], %r1;
        ret;
    }";

const LAUNCHES: u32 = 1000;

#[test]
fn launches_allocate_nothing() -> Result<(), Error> {
    let device = Device::open(&DeviceSelector::Default)?;
    if device.as_reference().is_some() {
        // The interpreter runs a launch at once, and makes threads for that.
        return Ok(());
    }
    let module = device.load(&Source::new("allocations.ptx", PTX))?;
    let sum = device.upload(&[0_u32])?;
    let mut bytes = [0; 4000];
    bytes[3996] = 1;
    let (stream, mut rounds) = (device.stream(), 0);
    let cases = [("few", Arg::U32(1)), ("many", Arg::Bytes(&bytes)), ("reports", Arg::U32(1)), ("shares", Arg::U32(1))];
    for (name, by) in cases {
        let kernel = module.kernel(name)?;
        let shared = if name == "shares" { 64 << 10 } else { 0 };
        let (config, args) = (LaunchConfig::linear(1, 1).with_shared(shared), [(&sum).into(), by]);
        let launch = |count: u32| {
            (0..count).try_for_each(|_| {
                // SAFETY: the kernel adds to one number.
                unsafe { kernel.launch(&config, &args) }?;
                // SAFETY: as above.
                unsafe { kernel.launch_on(&stream, &config, &args) }
            })
        };
        let round = || {
            let before = COUNT.get();
            launch(LAUNCHES)?;
            rounds += 1;
            Ok::<_, Error>(COUNT.get() - before)
        };
        // A command buffer is made when more are in use than ever before, which happens at most 64 times.
        let counts = std::iter::repeat_with(round).take(100);
        let counts = counts.take_while(|count| !matches!(count, Ok(0))).collect::<Result<Vec<_>, _>>()?;
        assert!(counts.len() < 100, "{name}: {counts:?}");
        device.synchronize()?;
    }
    assert_eq!(sum.download::<u32>()?, [rounds * 2 * LAUNCHES]);
    Ok(())
}

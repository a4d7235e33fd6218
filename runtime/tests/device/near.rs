//! Modules whose pointers have 32 bits.

use ptx2spv_runtime::{Arg, Error, LaunchConfig};
use ptx2spv_translator::Source;

use crate::{Context, Launch};

/// Adds one to each of a block's words.
const INCREASE: &str = include_str!("ptx/near.ptx");

#[test]
fn buffers_since_the_module_was_loaded_are_in_reach() {
    for context in Context::several() {
        let device = &context.device;
        let before = device.upload(&[1_u32; 8]).unwrap();
        let module = device.load(&Source::new("increase.ptx", INCREASE)).unwrap();
        let kernel = module.kernel("increase").unwrap();
        assert!(module.has_short_pointers());
        let block = LaunchConfig::new([1; 3], [8, 1, 1]);

        let (first, second) = (device.upload(&[10_u32; 8]).unwrap(), device.upload(&[20_u32; 8]).unwrap());
        assert_eq!(device.memory().find(second.address() + 31).map(|found| found.size), Some(32));
        kernel.run(&block, &[Arg::Pointer(&first)]).unwrap();
        kernel.run(&block, &[Arg::Address(second.address())]).unwrap();
        // The kernel gets the low half.
        kernel.run(&block, &[Arg::U32(second.address() as u32)]).unwrap();
        assert_eq!(first.download::<u32>().unwrap(), [11; 8]);
        assert_eq!(second.download::<u32>().unwrap(), [22; 8]);

        // Freed memory is used again.
        let address = first.address();
        drop(first);
        let third = device.upload(&[30_u32; 8]).unwrap();
        assert_eq!(third.address(), address);
        kernel.run(&block, &[Arg::Pointer(&third)]).unwrap();
        assert_eq!((third.download::<u32>().unwrap(), second.download::<u32>().unwrap()), (vec![31; 8], vec![22; 8]));

        assert!(matches!(kernel.run(&block, &[Arg::Pointer(&before)]), Err(Error::TooFar(_))));
        assert!(matches!(device.default_stream().allocate(16), Err(Error::TooFar(_))));
        assert!(device.memory().is_out_of_reach(before.address()));
        assert_eq!(before.download::<u32>().unwrap(), [1; 8]);
        drop((before, second, third, kernel, module));
        context.finish();
    }
}

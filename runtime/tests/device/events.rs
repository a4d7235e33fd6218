//! Counters of `pmevent`.

use ptx2spv_runtime::LaunchConfig;
use ptx2spv_translator::Source;

use crate::{Context, Launch};

/// Event 0 by all warps, 1 and 7 by those of threads below 40, 3 by each warp once more than by the one before, and 9 by a
/// single thread of each.
const KERNELS: &str = include_str!("ptx/events.ptx");

fn events(counts: &[(usize, u64)]) -> [u64; 16] {
    let mut all = [0; 16];
    for &(event, count) in counts {
        all[event] = count;
    }
    all
}

#[test]
fn events_count_once_for_each_warp() {
    for context in Context::several() {
        let module = context.device.load(&Source::new("events.ptx", KERNELS)).unwrap();
        let kernel = module.kernel("counting").unwrap();
        assert_eq!(module.counters().unwrap(), [0; 16]);
        let launch = LaunchConfig::new([5, 1, 1], [96, 1, 1]);
        kernel.run(&launch, &[]).unwrap();
        assert_eq!(module.counters().unwrap(), events(&[(0, 15), (1, 10), (7, 10), (3, 30), (9, 15)]));
        // Counters keep counting until they are reset, and don't affect variables.
        kernel.run(&launch, &[]).unwrap();
        assert_eq!(module.counters().unwrap(), events(&[(0, 30), (1, 20), (7, 20), (3, 60), (9, 30)]));
        module.reset_counters().unwrap();
        // A block whose last warp is not full.
        kernel.run(&LaunchConfig::new([1; 3], [35, 1, 1]), &[]).unwrap();
        assert_eq!(module.counters().unwrap(), events(&[(0, 2), (1, 2), (7, 2), (3, 3), (9, 1)]));
        let mut before = [0; 4];
        module.read_variable("before", 0, &mut before).unwrap();
        assert_eq!(before, [7, 0, 0, 0]);
        drop((module, kernel));
        context.finish();
    }
}

#[test]
fn kernels_without_events_pay_nothing() {
    for context in Context::several() {
        let module = context.device.load(&Source::new("events.ptx", KERNELS)).unwrap();
        assert!(module.kernel("nothing").unwrap().entry().packing.is_none());
        let text = KERNELS.replace("pmevent", "// pmevent");
        let without = context.device.load(&Source::new("none.ptx", text)).unwrap();
        assert!(without.kernel("counting").unwrap().entry().packing.is_none());
        assert_eq!(without.counters().unwrap(), [0; 16]);
        without.reset_counters().unwrap();
        drop((module, without));
        context.finish();
    }
}

//! Kernels that are prepared ahead, by many threads.

use std::sync::Mutex;
use std::thread;

use ptx2spv_runtime::{Error, LaunchConfig, LoadOptions, Math, PreparationTimes};
use ptx2spv_translator::Source;

use crate::{Context, Launch};

const KERNELS: u32 = 6;

/// A module whose kernel `k3` writes three, and so on.
fn source() -> Source {
    let head = ".version 7.0\n.target sm_50\n.address_size 64\n".to_owned();
    let kernel = |number: u32| {
        format!(
            ".visible .entry k{number}(.param .u64 out)
            {{
                .reg .b64 %rd<2>;
                ld.param.u64 %rd1, [out];
                st.global.u32 [%rd1], {number};
                ret;
            }}\n"
        )
    };
    Source::new("prepare.ptx", head + &(0..KERNELS).map(kernel).collect::<String>())
}

fn names() -> Vec<String> {
    (0..KERNELS).map(|number| format!("k{number}")).collect()
}

#[test]
fn many_threads_prepare_each_kernel_once() {
    for context in Context::several() {
        let module = context.device.load_with(&source(), LoadOptions::uncached(Math::EXACT)).unwrap();
        let (names, config) = (names(), LaunchConfig::linear(1, 1));
        let prepare = |first: usize| {
            let mut times = vec![PreparationTimes::default(); names.len()];
            for index in (0..names.len()).map(|index| (first + index) % names.len()) {
                times[index] = module.kernel(&names[index]).unwrap().prepare(&config).unwrap();
            }
            times
        };
        let times: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|first| scope.spawn(move || prepare(first))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        // What was done twice would have taken another time.
        assert!(times.iter().all(|other| *other == times[0]), "{times:?}");
        assert!(times[0].iter().all(|times| !times.translation.is_zero() && !times.pipeline.is_zero()));
        let out = context.device.upload(&[99_u32]).unwrap();
        for (number, name) in (0..).zip(&names) {
            module.kernel(name).unwrap().run(&config, &[(&out).into()]).unwrap();
            assert_eq!(out.download::<u32>().unwrap(), [number]);
        }
        drop((out, module));
        context.finish();
    }
}

#[test]
fn a_module_prepares_its_kernels() {
    for context in Context::several() {
        let module = context.device.load_with(&source(), LoadOptions::uncached(Math::EXACT)).unwrap();
        let config = LaunchConfig::linear(1, 1);
        let names = names();
        let mut launches: Vec<_> = names.iter().map(|name| (name.as_str(), config)).collect();
        launches.insert(2, ("nothing", config));
        launches.push(("k0", LaunchConfig::new([1; 3], [1, 1, 65])));
        let seen = Mutex::new(Vec::new());
        let times =
            module.prepare(&launches, |name, times| seen.lock().unwrap().push((name.to_owned(), times.is_ok())));
        assert!(matches!(times[2], Err(Error::NoKernel { .. })), "{:?}", times[2]);
        assert!(matches!(times[7], Err(Error::Block { .. })), "{:?}", times[7]);
        for (times, name) in [0, 1, 3, 4, 5, 6].map(|index| (&times[index], launches[index].0)) {
            // Nothing is left to be done.
            let again = module.kernel(name).unwrap().prepare(&config).unwrap();
            assert_eq!(*times.as_ref().unwrap(), again);
        }
        let mut seen = seen.into_inner().unwrap();
        seen.sort();
        let mut expected: Vec<_> = names.iter().map(|name| (name.clone(), true)).collect();
        expected.extend([("k0".to_owned(), false), ("nothing".to_owned(), false)]);
        expected.sort();
        assert_eq!(seen, expected);
        let kernels: Vec<_> = module.kernels().into_iter().map(|kernel| kernel.unwrap().name().to_owned()).collect();
        assert_eq!(kernels, names);
        drop(module);
        context.finish();
    }
}

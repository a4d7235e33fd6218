//! Graphs: their order, repeated launches, and changes in between.

use std::sync::{Arc, Mutex};

use ptx2spv_runtime::{Arg, CopySide, Error, Extent, Graph, LaunchConfig, NodeId, NodeKind, SetNode, Work};

use crate::Context;

const CONFIG: LaunchConfig = LaunchConfig::new([4, 1, 1], [64, 1, 1]);

fn ones(address: u64, value: u32) -> SetNode {
    SetNode { address, pitch: 0, value, element: 4, width: 256, height: 1 }
}

#[test]
fn nodes_run_after_their_dependencies() {
    for context in Context::several() {
        let (device, kernel) = (&context.device, context.kernel("step"));
        let (buffer, pinned) = (device.alloc(1024).unwrap(), device.alloc_pinned(1024).unwrap());
        let at = buffer.address();
        let mut graph = Graph::new(device);
        // Added the wrong way round: x = 3 (3 x + 2) + 1, then out.
        let last = graph.add(&[], Work::kernel(&kernel, &CONFIG, &[Arg::Address(at), 1_u32.into()])).unwrap();
        let first = graph.add(&[], Work::kernel(&kernel, &CONFIG, &[Arg::Address(at), 2_u32.into()])).unwrap();
        let (from, to) = (CopySide::device(at), CopySide::host(pinned.as_ptr()));
        let out = graph.add(&[last], Work::Copy(from, to, Extent::bytes(1024))).unwrap();
        let set = graph.add(&[], ones(at, 5)).unwrap();
        let between = graph.add(&[first], Work::Empty).unwrap();
        graph.add_dependency(set, first).unwrap();
        graph.add_dependency(between, last).unwrap();
        let seen: Arc<Mutex<Vec<u32>>> = Arc::default();
        let (pointer, list) = (pinned.as_ptr() as usize, seen.clone());
        let look = move || {
            // SAFETY: the copy before has finished, and the buffer lives.
            let number = unsafe { (pointer as *const u32).add(255).read() };
            list.lock().unwrap().push(number);
        };
        graph.add(&[out], Work::host_function(look)).unwrap();
        let mut launchable = graph.instantiate().unwrap();
        let stream = device.stream();
        let launch = |graph: &ptx2spv_runtime::LaunchableGraph| {
            // SAFETY: there are 256 numbers everywhere.
            unsafe { graph.launch(&stream) }.unwrap();
        };
        launch(&launchable);
        launch(&launchable);
        launchable.set(last, Work::kernel(&kernel, &CONFIG, &[Arg::Address(at), 100_u32.into()])).unwrap();
        launchable.set(set, ones(at, 0)).unwrap();
        launch(&launchable);
        launchable.update(&graph).unwrap();
        launch(&launchable);
        stream.synchronize().unwrap();
        assert_eq!(*seen.lock().unwrap(), [52, 52, 106, 52]);
        let kinds: Vec<_> = graph.nodes().map(|node| graph.kind(node).unwrap()).collect();
        use NodeKind::{Copy, Empty, HostFunction, Kernel, Set};
        assert_eq!(kinds, [Kernel, Kernel, Copy, Set, Empty, HostFunction]);
        assert_eq!(graph.dependencies(first).unwrap(), [set]);
    }
}

#[test]
fn events_in_graphs() {
    for context in Context::several() {
        let device = &context.device;
        let (a, b) = (device.non_blocking_stream(), device.non_blocking_stream());
        let (buffer, event) = (device.alloc(1024).unwrap(), Arc::new(device.event()));
        let mut graph = Graph::new(device);
        let set = graph.add(&[], ones(buffer.address(), 9)).unwrap();
        graph.add(&[set], Work::EventRecord(event.clone())).unwrap();
        let mut other = Graph::new(device);
        let wait = other.add(&[], Work::EventWait(event.clone())).unwrap();
        other.add(&[wait], SetNode::bytes(buffer.address(), 1, 4)).unwrap();
        for (graph, stream) in [(&graph, &a), (&other, &b)] {
            // SAFETY: the memory is the device's, and there are no kernels.
            unsafe { graph.instantiate().unwrap().launch(stream) }.unwrap();
        }
        b.synchronize().unwrap();
        assert!(event.has_passed().unwrap());
        assert_eq!(buffer.download::<u32>().unwrap()[..2], [0x0101_0101, 9]);
    }
}

#[test]
fn graphs_that_can_not_be() {
    for context in Context::several() {
        let (device, kernel) = (&context.device, context.kernel("step"));
        let mut graph = Graph::new(device);
        let [a, b] = [(); 2].map(|()| graph.add(&[], Work::Empty).unwrap());
        graph.add_dependency(a, b).unwrap();
        let mut launchable = graph.instantiate().unwrap();
        let is_wrong = |result: Result<(), Error>| assert!(matches!(result, Err(Error::Graph(_))), "{result:?}");
        is_wrong(launchable.set(a, SetNode::bytes(0, 0, 0)));
        is_wrong(launchable.update(&Graph::new(device)));
        graph.add_dependency(b, a).unwrap();
        is_wrong(graph.instantiate().map(|_| ()));
        let other = Graph::new(device);
        is_wrong(other.kind(a).map(|_| ()));
        is_wrong(Graph::new(device).add(&[b], Work::Empty).map(|_| ()));
        let few = graph.add(&[], Work::kernel(&kernel, &CONFIG, &[]));
        assert!(matches!(few, Err(Error::ArgumentCount { .. })), "{few:?}");
    }
}

/// A graph of kernels, copies and sets goes to the device as one submission, at each launch.
#[test]
fn a_graph_is_one_submission() {
    for context in Context::several() {
        let (device, kernel) = (&context.device, context.kernel("step"));
        let [buffer, copy] = [(); 2].map(|()| device.alloc(1024).unwrap());
        let pinned = device.alloc_pinned(1024).unwrap();
        let mut graph = Graph::new(device);
        let mut last = graph.add(&[], ones(buffer.address(), 1)).unwrap();
        // More than a batch takes of other launches.
        for _ in 0..40 {
            let args = [Arg::Address(buffer.address()), 1_u32.into()];
            last = graph.add(&[last], Work::kernel(&kernel, &CONFIG, &args)).unwrap();
        }
        let [from, to] = [&buffer, &copy].map(|buffer| CopySide::device(buffer.address()));
        last = graph.add(&[last], Work::Copy(from, to, Extent::bytes(1024))).unwrap();
        last = graph.add(&[last], SetNode::bytes(buffer.address(), 0, 1024)).unwrap();
        graph.add(&[last], Work::Copy(to, CopySide::host(pinned.as_ptr()), Extent::bytes(1024))).unwrap();
        let (launchable, stream) = (graph.instantiate().unwrap(), device.stream());
        device.synchronize().unwrap();
        for _ in 0..3 {
            let before = device.submissions();
            // SAFETY: there are 256 numbers everywhere.
            unsafe { launchable.launch(&stream) }.unwrap();
            stream.synchronize().unwrap();
            // The reference device runs each launch at once.
            let expected = if device.as_reference().is_some() { 40 } else { 1 };
            assert_eq!(device.submissions() - before, expected);
            let result = (0..40).fold(1_u32, |x, _| x.wrapping_mul(3).wrapping_add(1));
            assert_eq!(copy.download::<u32>().unwrap(), [result; 256]);
            // SAFETY: the copy has finished, and the buffer lives.
            assert_eq!(unsafe { pinned.as_ptr().cast::<u32>().add(255).read() }, result);
        }
    }
}

/// Nothing is launched of a graph with a node whose memory is gone.
#[test]
fn a_graph_that_can_not_be_launched_does_nothing() {
    for context in Context::several() {
        let device = &context.device;
        let [buffer, gone] = [(); 2].map(|()| device.upload(&[5_u8; 64]).unwrap());
        let (stream, at, freed) = (device.stream(), buffer.address(), gone.address());
        let launch = |last: &dyn Fn(&mut Graph, NodeId)| {
            let mut graph = Graph::new(device);
            let first = graph.add(&[], SetNode::bytes(at, 1, 64)).unwrap();
            last(&mut graph, first);
            // SAFETY: what is there is the device's, and there are no kernels.
            unsafe { graph.instantiate().unwrap().launch(&stream) }
        };
        drop(gone);
        device.synchronize().unwrap();
        let failed = [
            launch(&|graph, first| {
                graph.add(&[first], SetNode::bytes(freed, 1, 64)).unwrap();
            }),
            launch(&|graph, first| {
                let (from, to) = (CopySide::device(at), CopySide::device(freed));
                graph.add(&[first], Work::Copy(from, to, Extent::bytes(64))).unwrap();
            }),
            launch(&|graph, first| {
                graph.add(&[first], SetNode { element: 3, ..SetNode::bytes(at, 1, 64) }).unwrap();
            }),
            launch(&|graph, first| {
                let (from, to) = (CopySide::device(at), CopySide::device(at + 1));
                graph.add(&[first], Work::Copy(from, to, Extent::bytes(63))).unwrap();
            }),
        ];
        let is_right = matches!(
            failed,
            [
                Err(Error::NotAllocated { .. }),
                Err(Error::NotAllocated { .. }),
                Err(Error::Graph(_)),
                Err(Error::Overlap)
            ]
        );
        assert!(is_right, "{failed:?}");
        assert_eq!(buffer.download::<u8>().unwrap(), [5; 64]);
    }
}

//! Graphs: their order, repeated launches, and changes in between.

use std::sync::{Arc, Mutex};

use ptx2spv_runtime::{Arg, CopySide, Error, Extent, Graph, LaunchConfig, NodeKind, SetNode};

use crate::Context;

const CONFIG: LaunchConfig = LaunchConfig { grid: [4, 1, 1], block: [64, 1, 1], dynamic_shared_bytes: 0 };

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
        let last = graph.add_kernel(&[], &kernel, &CONFIG, &[Arg::Address(at), 1_u32.into()]).unwrap();
        let first = graph.add_kernel(&[], &kernel, &CONFIG, &[Arg::Address(at), 2_u32.into()]).unwrap();
        let (from, to) = (CopySide::device(at), CopySide::host(pinned.as_ptr()));
        let out = graph.add_copy(&[last], from, to, Extent::bytes(1024)).unwrap();
        let set = graph.add_set(&[], ones(at, 5)).unwrap();
        let between = graph.add_empty(&[first]).unwrap();
        graph.add_dependency(set, first).unwrap();
        graph.add_dependency(between, last).unwrap();
        let seen: Arc<Mutex<Vec<u32>>> = Arc::default();
        let (pointer, list) = (pinned.as_ptr() as usize, seen.clone());
        let look = move || {
            // SAFETY: the copy before has finished, and the buffer lives.
            let number = unsafe { (pointer as *const u32).add(255).read() };
            list.lock().unwrap().push(number);
        };
        graph.add_host_function(&[out], look).unwrap();
        let mut launchable = graph.instantiate().unwrap();
        let stream = device.stream();
        let launch = |graph: &ptx2spv_runtime::LaunchableGraph| {
            // SAFETY: there are 256 numbers everywhere.
            unsafe { graph.launch(&stream) }.unwrap();
        };
        launch(&launchable);
        launch(&launchable);
        launchable.update_kernel(last, &kernel, &CONFIG, &[Arg::Address(at), 100_u32.into()]).unwrap();
        launchable.update_set(set, ones(at, 0)).unwrap();
        launch(&launchable);
        launchable.update(&graph).unwrap();
        launch(&launchable);
        stream.synchronize().unwrap();
        assert_eq!(*seen.lock().unwrap(), [52, 52, 106, 52]);
        let kinds: Vec<_> = graph.nodes().map(|node| graph.kind(node).unwrap()).collect();
        use NodeKind::{Copy, Empty, HostFunction, Kernel, Set};
        assert_eq!(kinds, [Kernel, Kernel, Copy, Set, Empty, HostFunction]);
        assert_eq!(graph.dependencies(first).unwrap(), [set]);
        drop((graph, launchable, kernel, stream, buffer, pinned));
        context.finish();
    }
}

#[test]
fn events_in_graphs() {
    for context in Context::several() {
        let device = &context.device;
        let (a, b) = (device.non_blocking_stream(), device.non_blocking_stream());
        let (buffer, event) = (device.alloc(1024).unwrap(), Arc::new(device.event()));
        let mut graph = Graph::new(device);
        let set = graph.add_set(&[], ones(buffer.address(), 9)).unwrap();
        graph.add_event_record(&[set], &event).unwrap();
        let mut other = Graph::new(device);
        let wait = other.add_event_wait(&[], &event).unwrap();
        other.add_set(&[wait], SetNode::bytes(buffer.address(), 1, 4)).unwrap();
        for (graph, stream) in [(&graph, &a), (&other, &b)] {
            // SAFETY: the memory is the device's, and there are no kernels.
            unsafe { graph.instantiate().unwrap().launch(stream) }.unwrap();
        }
        b.synchronize().unwrap();
        assert!(event.has_passed().unwrap());
        assert_eq!(buffer.download::<u32>().unwrap()[..2], [0x0101_0101, 9]);
        drop((graph, other, event, a, b, buffer));
        context.finish();
    }
}

#[test]
fn graphs_that_can_not_be() {
    for context in Context::several() {
        let (device, kernel) = (&context.device, context.kernel("step"));
        let mut graph = Graph::new(device);
        let [a, b] = [(); 2].map(|()| graph.add_empty(&[]).unwrap());
        graph.add_dependency(a, b).unwrap();
        let mut launchable = graph.instantiate().unwrap();
        let is_wrong = |result: Result<(), Error>| assert!(matches!(result, Err(Error::Graph(_))), "{result:?}");
        is_wrong(launchable.update_set(a, SetNode::bytes(0, 0, 0)));
        is_wrong(launchable.update(&Graph::new(device)));
        graph.add_dependency(b, a).unwrap();
        is_wrong(graph.instantiate().map(|_| ()));
        let other = Graph::new(device);
        is_wrong(other.kind(a).map(|_| ()));
        is_wrong(Graph::new(device).add_empty(&[b]).map(|_| ()));
        let few = graph.add_kernel(&[], &kernel, &CONFIG, &[]);
        assert!(matches!(few, Err(Error::ArgumentCount { .. })), "{few:?}");
        drop((graph, launchable, other, kernel));
        context.finish();
    }
}

//! Graphs: launches, copies and fills with dependencies, built once and launched many times.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use crate::backend::shape::Extent;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::launch::args::{Arg, LaunchConfig};
use crate::memory::copies::{Copy, CopySide};
use crate::module::kernel::Kernel;
use crate::stream::event::Event;
use crate::stream::{SetValue, Stream};

/// A graph of work, built node by node with dependencies. [`Graph::instantiate`] makes a launchable graph of it.
///
/// ```
/// use ptx2spv_runtime::{Config, CopySide, Device, Extent, Graph, SetNode, Work};
///
/// let device = Device::reference(Config::default());
/// let (first, second) = (device.alloc(64)?, device.alloc(64)?);
/// let mut graph = Graph::new(&device);
/// let set = graph.add(&[], SetNode::bytes(first.address(), 1, 64))?;
/// let (from, to) = (CopySide::device(first.address()), CopySide::device(second.address()));
/// graph.add(&[set], Work::Copy(from, to, Extent::bytes(64)))?;
/// let mut launchable = graph.instantiate()?;
/// let stream = device.stream();
/// for value in [3, 4] {
///     launchable.set(set, SetNode::bytes(first.address(), value, 64))?;
///     // SAFETY: the memory is the device's, and there are no kernels.
///     unsafe { launchable.launch(&stream) }?;
///     stream.synchronize()?;
///     assert_eq!(second.download::<u8>()?, [value as u8; 64]);
/// }
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Graph {
    device: Device,
    nodes: Vec<Node>,
}

/// A graph that can be launched. Later changes of the original graph don't affect it.
///
/// ```
/// use ptx2spv_runtime::{Config, Device, Graph, SetNode};
///
/// let device = Device::reference(Config::default());
/// let (buffer, stream) = (device.alloc(16)?, device.stream());
/// let mut graph = Graph::new(&device);
/// graph.add(&[], SetNode::bytes(buffer.address(), 6, 16))?;
/// let launchable = graph.instantiate()?;
/// // SAFETY: the memory is the device's, and there are no kernels.
/// unsafe { launchable.launch(&stream) }?;
/// stream.synchronize()?;
/// assert_eq!(buffer.download::<u8>()?, [6; 16]);
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LaunchableGraph {
    graph: Graph,
    /// All nodes in topological order.
    order: Vec<usize>,
}

/// A node of a graph, and of the launchable graphs instantiated from it.
///
/// ```
/// use ptx2spv_runtime::{Config, Device, Graph, Work};
///
/// let mut graph = Graph::new(&Device::reference(Config::default()));
/// let first = graph.add(&[], Work::Empty)?;
/// let second = graph.add(&[first], Work::Empty)?;
/// assert_ne!(first, second);
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(usize);

/// The kind of a node's work.
///
/// ```
/// use ptx2spv_runtime::{Config, Device, Graph, NodeKind, Work};
///
/// let mut graph = Graph::new(&Device::reference(Config::default()));
/// let node = graph.add(&[], Work::host_function(|| println!("done")))?;
/// assert_eq!(graph.kind(node)?, NodeKind::HostFunction);
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// No work: the node only orders others.
    Empty,
    /// Launches a kernel.
    Kernel,
    /// Copies rows.
    Copy,
    /// Sets rows.
    Set,
    /// Runs a function of the program.
    HostFunction,
    /// Records an event.
    EventRecord,
    /// Waits for an event.
    EventWait,
}

/// The fill of a node: rows of elements of 1, 2 or 4 bytes.
///
/// ```
/// use ptx2spv_runtime::SetNode;
///
/// // Eight rows of 64 bytes, 100 bytes apart.
/// let rows = SetNode { pitch: 100, height: 8, ..SetNode::bytes(4096, 0xff, 64) };
/// assert_eq!((rows.element, rows.width), (1, 64));
/// // A thousand floats of 1.0.
/// let floats = SetNode { value: 1_f32.to_bits(), element: 4, ..SetNode::bytes(4096, 0, 1000) };
/// assert_eq!((floats.width, floats.height), (1000, 1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetNode {
    /// Address of the first element.
    pub address: u64,
    /// Bytes from one row to the next.
    pub pitch: u64,
    /// The value of each element, in the lower bits.
    pub value: u32,
    /// Bytes of an element: 1, 2 or 4.
    pub element: u32,
    /// Elements of a row.
    pub width: u64,
    /// Number of rows.
    pub height: u64,
}

#[derive(Clone, Debug)]
struct Node {
    work: Work,
    after: Vec<NodeId>,
}

/// The work of a node.
#[derive(Clone)]
pub enum Work {
    /// No work: the node only orders others.
    Empty,
    /// A launch: [`Work::kernel`].
    Kernel(KernelWork),
    /// A copy like [`Stream::copy_rows`]. Host memory is read when the graph is launched.
    Copy(CopySide, CopySide, Extent),
    /// A fill of memory.
    Set(SetNode),
    /// A host function, which runs at each launch as with [`Stream::call`].
    HostFunction(Arc<dyn Fn() + Send + Sync>),
    /// A record of an event.
    EventRecord(Arc<Event>),
    /// A wait for an event, as recorded when the graph is launched.
    EventWait(Arc<Event>),
}

/// A launch with its own copy of the arguments.
#[derive(Clone)]
pub struct KernelWork {
    kernel: Kernel,
    config: LaunchConfig,
    args: Vec<OwnedArg>,
    /// The devices that the arguments belong to.
    owners: Vec<Device>,
}

#[derive(Clone)]
enum OwnedArg {
    Address(u64),
    Value(Vec<u8>),
}

impl OwnedArg {
    fn as_arg(&self) -> Arg<'_> {
        match self {
            Self::Address(address) => Arg::Address(*address),
            Self::Value(bytes) => Arg::Bytes(bytes),
        }
    }
}

impl SetNode {
    /// Fills `count` bytes.
    pub fn bytes(address: u64, value: u8, count: u64) -> Self {
        Self { address, pitch: 0, value: value.into(), element: 1, width: count, height: 1 }
    }

    fn value(&self) -> Result<SetValue> {
        let &Self { value, element, .. } = self;
        match element {
            1 => Ok((value as u8).into()),
            2 => Ok((value as u16).into()),
            4 => Ok(value.into()),
            _ => Err(Error::Graph(format!("elements to set have 1, 2 or 4 bytes, not {element}"))),
        }
    }

    fn check(&self, device: &Device) -> Result {
        let &Self { address, pitch, width, height, .. } = self;
        self.value()?.rows(device, address, width, height, pitch).map(|_| ())
    }

    fn run(&self, stream: &Stream) -> Result {
        let &Self { address, pitch, width, height, .. } = self;
        stream.set_rows(address, pitch, self.value()?, width, height)
    }
}

impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kernel(work) => write!(f, "{:?}", work.kernel),
            work => write!(f, "{:?}", work.kind()),
        }
    }
}

impl KernelWork {
    fn args(&self) -> Vec<Arg<'_>> {
        self.args.iter().map(OwnedArg::as_arg).collect()
    }

    /// # Safety
    /// As for [`Kernel::launch`].
    unsafe fn run(&self, stream: &Stream) -> Result {
        // SAFETY: by the contract.
        unsafe { self.kernel.launch_on(stream, &self.config, &self.args()) }
    }
}

impl From<SetNode> for Work {
    fn from(set: SetNode) -> Self {
        Self::Set(set)
    }
}

impl Work {
    /// A kernel launch. The arguments are copied now.
    pub fn kernel(kernel: &Kernel, config: &LaunchConfig, args: &[Arg<'_>]) -> Self {
        let owned = |arg: &Arg<'_>| match arg.address() {
            Some(address) => OwnedArg::Address(address),
            None => OwnedArg::Value(arg.with_bytes(<[u8]>::to_vec)),
        };
        Self::Kernel(KernelWork {
            kernel: kernel.clone(),
            config: *config,
            args: args.iter().map(owned).collect(),
            owners: args.iter().filter_map(|arg| arg.device().cloned()).collect(),
        })
    }

    /// A host function.
    pub fn host_function(function: impl Fn() + Send + Sync + 'static) -> Self {
        Self::HostFunction(Arc::new(function))
    }

    /// Checks that the work can be part of a device's graph, and prepares a kernel.
    fn accept(&self, device: &Device) -> Result {
        match self {
            Self::Kernel(work) => {
                work.owners.iter().try_for_each(|owner| device.check_same(owner))?;
                work.kernel.check(device, &work.config, &work.args())
            }
            Self::EventRecord(event) | Self::EventWait(event) => device.check_same(event.device()),
            Self::Empty | Self::Copy(..) | Self::Set(_) | Self::HostFunction(_) => Ok(()),
        }
    }

    fn kind(&self) -> NodeKind {
        match self {
            Self::Empty => NodeKind::Empty,
            Self::Kernel(_) => NodeKind::Kernel,
            Self::Copy(..) => NodeKind::Copy,
            Self::Set(_) => NodeKind::Set,
            Self::HostFunction(_) => NodeKind::HostFunction,
            Self::EventRecord(_) => NodeKind::EventRecord,
            Self::EventWait(_) => NodeKind::EventWait,
        }
    }

    /// Checks that the work can be submitted now. Returns whether the call may wait, for this work or an earlier command.
    fn check(&self, device: &Device) -> Result<bool> {
        match self {
            Self::Empty | Self::EventRecord(_) => Ok(false),
            // Its launch was checked when the node was added.
            Self::Kernel(work) => Ok(work.kernel.waits()),
            Self::Copy(from, to, extent) => {
                Ok(Copy::new(device, *from, *to, *extent)?.is_some_and(|copy| copy.waits()))
            }
            Self::Set(set) => set.check(device).map(|()| false),
            Self::HostFunction(_) | Self::EventWait(_) => Ok(true),
        }
    }

    /// # Safety
    /// As for [`Kernel::launch`] and [`Stream::copy_rows`].
    unsafe fn run(&self, stream: &Stream) -> Result {
        match self {
            Self::Empty => Ok(()),
            // SAFETY: by the contract.
            Self::Kernel(work) => unsafe { work.run(stream) },
            // SAFETY: by the contract.
            Self::Copy(from, to, extent) => unsafe { stream.copy_rows(*from, *to, *extent) },
            Self::Set(set) => set.run(stream),
            Self::HostFunction(function) => {
                let function = function.clone();
                stream.call(move || function())
            }
            Self::EventRecord(event) => event.record(stream),
            Self::EventWait(event) => stream.wait_event(event),
        }
    }
}

impl Graph {
    /// A graph without nodes.
    pub fn new(device: &Device) -> Self {
        Self { device: device.clone(), nodes: Vec::new() }
    }

    /// The device that the graph is for.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Adds a node that runs after others.
    ///
    /// # Errors
    /// [`Error::Graph`] if nodes in `after` are not in the graph, [`Error::ForeignBuffer`] if an event belongs to another
    /// device, and the errors of [`Kernel::launch`] for an invalid launch.
    pub fn add(&mut self, after: &[NodeId], work: impl Into<Work>) -> Result<NodeId> {
        let work = work.into();
        work.accept(&self.device)?;
        after.iter().try_for_each(|node| self.node(*node).map(|_| ()))?;
        self.nodes.push(Node { work, after: Vec::new() });
        let added = NodeId(self.nodes.len() - 1);
        after.iter().try_for_each(|node| self.add_dependency(*node, added))?;
        Ok(added)
    }

    /// Makes a node depend on another.
    ///
    /// # Errors
    /// [`Error::Graph`] if one is not in the graph.
    pub fn add_dependency(&mut self, before: NodeId, after: NodeId) -> Result {
        self.node(before)?;
        let list = &mut self.node_mut(after)?.after;
        if !list.contains(&before) {
            list.push(before);
        }
        Ok(())
    }

    /// All nodes in the order in which they were added.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> {
        (0..self.nodes.len()).map(NodeId)
    }

    /// The kind of work of a node.
    ///
    /// # Errors
    /// [`Error::Graph`] if it is not in the graph.
    pub fn kind(&self, node: NodeId) -> Result<NodeKind> {
        Ok(self.node(node)?.work.kind())
    }

    /// The dependencies of a node.
    ///
    /// # Errors
    /// [`Error::Graph`] if it is not in the graph.
    pub fn dependencies(&self, node: NodeId) -> Result<&[NodeId]> {
        Ok(&self.node(node)?.after)
    }

    fn node(&self, node: NodeId) -> Result<&Node> {
        self.nodes.get(node.0).ok_or_else(|| unknown(node))
    }

    fn node_mut(&mut self, node: NodeId) -> Result<&mut Node> {
        self.nodes.get_mut(node.0).ok_or_else(|| unknown(node))
    }

    /// Makes a launchable graph.
    ///
    /// # Errors
    /// [`Error::Graph`] if the graph has a cycle.
    pub fn instantiate(&self) -> Result<LaunchableGraph> {
        Ok(LaunchableGraph { graph: self.clone(), order: self.order()? })
    }

    /// The nodes in topological order, and otherwise in the order of their addition.
    fn order(&self) -> Result<Vec<usize>> {
        let before = |node: usize| self.nodes[node].after.iter().map(|before| before.0);
        topological_order(self.nodes.len(), before).ok_or_else(|| Error::Graph("the graph has a cycle".to_owned()))
    }
}

/// The numbers from 0 to `count`, each after those that `before` gives for it, and otherwise in ascending order; `None` if there is a cycle, or a
/// number that isn't there.
///
/// ```
/// use ptx2spv_runtime::topological_order;
///
/// let before = [vec![2], vec![], vec![1]];
/// assert_eq!(topological_order(3, |number| before[number].iter().copied()), Some(vec![1, 2, 0]));
/// assert_eq!(topological_order(1, |number| [number]), None);
/// ```
pub fn topological_order<I: IntoIterator<Item = usize>>(
    count: usize,
    before: impl Fn(usize) -> I,
) -> Option<Vec<usize>> {
    let (mut open, mut next) = (vec![0; count], vec![Vec::new(); count]);
    for (number, open) in open.iter_mut().enumerate() {
        for before in before(number) {
            *open += 1;
            next.get_mut(before)?.push(number);
        }
    }
    let mut ready: BTreeSet<usize> = (0..count).filter(|number| open[*number] == 0).collect();
    let mut order = Vec::with_capacity(count);
    while let Some(number) = ready.pop_first() {
        order.push(number);
        for &after in &next[number] {
            open[after] -= 1;
            if open[after] == 0 {
                ready.insert(after);
            }
        }
    }
    (order.len() == count).then_some(order)
}

impl LaunchableGraph {
    /// Launches all nodes in stream order. They run one after another, independent ones in the order of their addition.
    /// They go to the device as one submission, unless the call waits between two of them: where [`Kernel::launch`] and
    /// [`Stream::copy_rows`] do, and for host functions and events that other nodes depend on.
    ///
    /// All nodes are checked before the first is launched.
    ///
    /// # Safety
    /// As for [`Kernel::launch`], for each kernel, and [`Stream::copy_rows`], for each copy.
    ///
    /// # Errors
    /// [`Error::ForeignBuffer`] if the stream belongs to another device, and the errors of the nodes. If no check fails, but
    /// memory runs out or the device is lost, the nodes before the failed one are launched.
    pub unsafe fn launch(&self, stream: &Stream) -> Result {
        let device = &self.graph.device;
        device.check_same(stream.device())?;
        let work = |node: &usize| &self.graph.nodes[*node].work;
        let waits = self.order.iter().map(|node| work(node).check(device)).collect::<Result<Vec<_>, _>>()?;
        let nodes: Vec<_> = self.order.iter().zip(waits).collect();
        // SAFETY: by the contract.
        stream.in_parts(&nodes, |(_, waits)| *waits, |(node, _)| unsafe { work(node).run(stream) })
    }

    /// Changes the work of a node, for later launches of the graph.
    ///
    /// # Errors
    /// [`Error::Graph`] if the node's work is of another kind, and the errors of [`Graph::add`].
    pub fn set(&mut self, node: NodeId, work: impl Into<Work>) -> Result {
        let work = work.into();
        work.accept(&self.graph.device)?;
        let place = &mut self.graph.node_mut(node)?.work;
        if place.kind() != work.kind() {
            return Err(Error::Graph(format!("node {} is of another kind: {:?}", node.0, place.kind())));
        }
        *place = work;
        Ok(())
    }

    /// Takes all nodes from a graph with the same kinds of nodes and the same dependencies, for later launches.
    ///
    /// # Errors
    /// [`Error::Graph`] if the nodes or dependencies differ.
    pub fn update(&mut self, graph: &Graph) -> Result {
        self.graph.device.check_same(&graph.device)?;
        let shape = |graph: &Graph| -> Vec<_> {
            graph.nodes.iter().map(|node| (node.work.kind(), node.after.clone())).collect()
        };
        if shape(&self.graph) != shape(graph) {
            return Err(Error::Graph("the nodes or their dependencies differ".to_owned()));
        }
        self.graph = graph.clone();
        Ok(())
    }
}

fn unknown(node: NodeId) -> Error {
    Error::Graph(format!("there is no node {}", node.0))
}

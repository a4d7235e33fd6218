//! Launches of graphs: the commands run one after another, in topological order.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use ptx2spv_runtime::Stream;

use crate::abi::{Code, Handle, INVALID_VALUE, Result, lock, objects};
use crate::context::Context;
use crate::context::user_object::References;
use crate::graph::command::{self, Command, NodeKind, SharedCommand};
use crate::graph::condition::Condition;
use crate::graph::{Graph, GraphHandle, NodeHandle};

/// An executable graph.
pub(crate) struct LaunchOrder {
    pub steps: Vec<Step>,
    pub flags: u64,
    pub objects: References,
    /// The conditions that get their first values when the graph is launched.
    conditions: Mutex<Vec<Arc<Condition>>>,
    pub id: u64,
}

/// A command of an executable graph.
pub(crate) struct Step {
    /// The node that the command comes from.
    pub node: NodeHandle,
    pub command: Mutex<SharedCommand>,
    pub enabled: AtomicBool,
}

pub(crate) type ExecHandle = Handle<LaunchOrder>;

objects!(EXECS: LaunchOrder = 11, INVALID_VALUE);

impl LaunchOrder {
    /// A snapshot of a graph.
    pub fn new(graph: &Graph, flags: u64) -> Result<Self> {
        let order = Self::without_conditions(graph, flags)?;
        lock(&order.conditions).clone_from(&lock(&graph.conditions));
        Ok(order)
    }

    /// A snapshot of a conditional node's graph, whose conditions get their first values with those of the graph around it.
    pub fn without_conditions(graph: &Graph, flags: u64) -> Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        let step = |node: NodeHandle| {
            let command = lock(&node.get()?.command).clone();
            let command = command.executable(flags).unwrap_or(Ok(command))?;
            Ok::<_, Code>(Step { node, command: Mutex::new(command), enabled: true.into() })
        };
        let steps = graph.order()?.into_iter().map(step).collect::<Result<_, _>>()?;
        let objects = lock(&graph.objects).clone();
        let conditions = Mutex::default();
        Ok(Self { steps, flags, objects, conditions, id: NUMBER.fetch_add(1, Ordering::Relaxed) })
    }

    /// A copy, which later changes of this executable graph don't reach.
    pub fn copy(&self) -> Result<Self> {
        let step = |step: &Step| {
            let command = Mutex::new(command::copy(&step.command)?);
            let enabled = step.enabled.load(Ordering::SeqCst).into();
            Ok::<_, Code>(Step { node: step.node, command, enabled })
        };
        let steps = self.steps.iter().map(step).collect::<Result<_, _>>()?;
        let conditions = Mutex::new(lock(&self.conditions).clone());
        Ok(Self { steps, flags: self.flags, objects: self.objects.clone(), conditions, id: self.id })
    }

    pub fn step(&self, node: NodeHandle) -> Result<&Step> {
        self.steps.iter().find(|step| step.node == node).ok_or(INVALID_VALUE)
    }

    /// Replaces a node's command by another one of the same kind.
    pub fn set(&self, node: NodeHandle, command: SharedCommand) -> Result {
        command::replace(&mut lock(&self.step(node)?.command), command)
    }

    /// The kinds of all commands, by which graphs are compared.
    pub fn kinds(&self) -> Vec<NodeKind> {
        self.steps.iter().map(|step| lock(&step.command).kind()).collect()
    }

    /// Takes over the commands of another order with the same kinds.
    pub fn take_commands(&self, other: &Self) {
        for (step, new) in self.steps.iter().zip(&other.steps) {
            let command = lock(&new.command).clone();
            *lock(&step.command) = command;
        }
        let conditions = lock(&other.conditions).clone();
        *lock(&self.conditions) = conditions;
    }
}

impl Command for LaunchOrder {
    fn run(&self, context: &Context, stream: &Stream) -> Result {
        let conditions = lock(&self.conditions).clone();
        conditions.iter().try_for_each(|condition| condition.begin(stream))?;
        let enabled = self.steps.iter().filter(|step| step.enabled.load(Ordering::SeqCst));
        let commands: Vec<_> = enabled.map(|step| lock(&step.command).clone()).collect();
        stream.in_parts(&commands, |command| command.kind().waits(), |command| command.run(context, stream))
    }

    fn kind(&self) -> NodeKind {
        NodeKind::Graph
    }

    fn executable(&self, _flags: u64) -> Option<Result<SharedCommand>> {
        self.own_copy()
    }

    fn own_copy(&self) -> Option<Result<SharedCommand>> {
        Some(self.copy().map(|order| Arc::new(order) as SharedCommand))
    }
}

/// A graph in a node of another one.
pub(crate) struct Child {
    graph: Arc<Graph>,
    pub handle: GraphHandle,
}

impl Child {
    /// A copy of a graph, as a command.
    pub fn of(graph: &Graph) -> Result<Self> {
        let graph = graph.copy()?;
        Ok(Self { handle: Handle::new(graph.clone())?, graph })
    }
}

pub(crate) fn child(graph: GraphHandle) -> Result<SharedCommand> {
    let graph = graph.get()?;
    graph.check_copyable()?;
    Ok(Arc::new(Child::of(&graph)?))
}

impl Drop for Child {
    fn drop(&mut self) {
        // Fails if the program has destroyed the graph, which belongs to the node.
        let _ = self.handle.remove();
    }
}

impl Command for Child {
    fn run(&self, context: &Context, stream: &Stream) -> Result {
        LaunchOrder::new(&self.graph, 0)?.run(context, stream)
    }

    fn kind(&self) -> NodeKind {
        NodeKind::Graph
    }

    fn executable(&self, flags: u64) -> Option<Result<SharedCommand>> {
        Some(LaunchOrder::new(&self.graph, flags).map(|order| Arc::new(order) as SharedCommand))
    }

    fn own_copy(&self) -> Option<Result<SharedCommand>> {
        Some(Self::of(&self.graph).map(|child| Arc::new(child) as SharedCommand))
    }
}

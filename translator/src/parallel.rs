//! Independent work on several threads.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The results of `work` for all items, in the order of the items, with `threads` threads, or one for each processor. The calling thread works
/// too, so this works even if the system creates no threads.
pub fn map<T: Sync, R: Send>(items: &[T], threads: Option<NonZeroUsize>, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    map_with(items, threads, || (), |(), item| work(item))
}

/// The same, where each thread has something for its work.
pub fn map_with<T: Sync, R: Send, S>(
    items: &[T],
    threads: Option<NonZeroUsize>,
    begin: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &T) -> R + Sync,
) -> Vec<R> {
    let threads = self::threads(threads);
    let next = AtomicUsize::new(0);
    let run = || {
        let mut done = Vec::new();
        let mut own = begin();
        loop {
            let position = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(position) else { return done };
            done.push((position, work(&mut own, item)));
        }
    };
    let mut results: Vec<(usize, R)> = thread::scope(|scope| {
        let spawn = |_| thread::Builder::new().spawn_scoped(scope, run).ok();
        let others: Vec<_> = (1..threads.min(items.len())).map_while(spawn).collect();
        let own = run();
        // A panic goes on in the thread that called.
        let joined =
            others.into_iter().map(|other| other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        joined.flatten().chain(own).collect()
    });
    results.sort_unstable_by_key(|(position, _)| *position);
    results.into_iter().map(|(_, result)| result).collect()
}

/// The number of threads that is asked for, or one for each processor.
pub fn threads(threads: Option<NonZeroUsize>) -> usize {
    threads.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_order() {
        let items: Vec<u32> = (0..1000).collect();
        for threads in [1, 2, 7, 2000] {
            let squares = map(&items, NonZeroUsize::new(threads), |item| item * item);
            assert_eq!(squares, items.iter().map(|item| item * item).collect::<Vec<_>>());
        }
        assert!(map(&[0; 0], None, |item| *item).is_empty());
    }
}

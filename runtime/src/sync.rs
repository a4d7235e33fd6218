//! Locks, and values that are made once per key.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// Locks a mutex even if a thread panicked while holding the lock: no lock here guards a half-made change.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits while a condition holds. `None` if it does longer than the limit. The clock is only read if there is something to wait for.
pub(crate) fn wait_while<'m, T>(
    changed: &Condvar,
    mut guard: MutexGuard<'m, T>,
    limit: Duration,
    mut holds: impl FnMut(&mut T) -> bool,
) -> Option<MutexGuard<'m, T>> {
    if !holds(&mut guard) {
        return Some(guard);
    }
    let (guard, waited) = changed.wait_timeout_while(guard, limit, holds).unwrap_or_else(PoisonError::into_inner);
    (!waited.timed_out()).then_some(guard)
}

/// Number of values that are found without a lock: the first ones made.
const UNLOCKED: usize = 4;

/// A value for each key, made on the first request. Threads with different keys don't wait for each other. Of those with
/// the same key, the first makes the value, and the others wait for it.
pub(crate) struct OnceMap<K, V> {
    first: [OnceLock<(K, V)>; UNLOCKED],
    places: Mutex<HashMap<K, Place<V>>>,
}

/// Locked while the value is being made.
type Place<V> = Arc<Mutex<Option<V>>>;

impl<K, V> Default for OnceMap<K, V> {
    fn default() -> Self {
        Self { first: Default::default(), places: Mutex::default() }
    }
}

impl<K: Clone + Eq + Hash, V: Clone> OnceMap<K, V> {
    /// The value of a key. If `make` fails, the next call tries again.
    pub fn get_or_make<E>(&self, key: &K, make: impl FnOnce() -> Result<V, E>) -> Result<V, E> {
        let made = self.first.iter().map_while(OnceLock::get).find(|(other, _)| other == key);
        if let Some((_, value)) = made {
            return Ok(value.clone());
        }
        let place = lock(&self.places).entry(key.clone()).or_default().clone();
        let mut place = lock(&place);
        if let Some(value) = &*place {
            return Ok(value.clone());
        }
        let value = make()?;
        let mut made = Some((key.clone(), value.clone()));
        for first in &self.first {
            match made.take().map(|made| first.set(made)) {
                // The place is taken.
                Some(Err(refused)) => made = Some(refused),
                _ => break,
            }
        }
        *place = Some(value.clone());
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::convert::Infallible;
    use std::sync::Barrier;
    use std::thread;

    use super::*;

    #[test]
    fn each_value_is_made_once() {
        const KEYS: usize = 2 * UNLOCKED;
        let (map, made) = (OnceMap::default(), Mutex::new(BTreeMap::new()));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for key in 0..KEYS {
                        let make = || {
                            *lock(&made).entry(key).or_insert(0) += 1;
                            Ok::<_, Infallible>(10 * key)
                        };
                        assert_eq!(map.get_or_make(&key, make), Ok(10 * key));
                    }
                });
            }
        });
        assert_eq!(*lock(&made), (0..KEYS).map(|key| (key, 1)).collect());
    }

    /// Both threads meet at a barrier while they make their values. If one waited for the other, neither would arrive.
    #[test]
    fn different_values_are_made_side_by_side() {
        let (map, meeting) = (OnceMap::default(), Barrier::new(2));
        thread::scope(|scope| {
            for key in [1, 2] {
                let (map, meeting) = (&map, &meeting);
                scope.spawn(move || {
                    let make = || {
                        meeting.wait();
                        Ok::<_, Infallible>(key)
                    };
                    assert_eq!(map.get_or_make(&key, make), Ok(key));
                });
            }
        });
    }

    #[test]
    fn what_failed_is_tried_again() {
        let map = OnceMap::default();
        assert_eq!(map.get_or_make(&1, || Err("not yet")), Err("not yet"));
        assert_eq!(map.get_or_make(&1, || Ok::<_, &str>(5)), Ok(5));
        assert_eq!(map.get_or_make(&1, || Err("no more")), Ok(5));
    }
}

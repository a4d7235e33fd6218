//! Events: points in streams, to wait for and to measure the time between.

use std::fmt;
use std::sync::Mutex;
use std::time::Duration;

use crate::backend::Timer;
use crate::backend::order::Position;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::stream::Stream;
use crate::sync::lock;

/// A point in a stream: everything submitted there before the last call of [`Event::record`]. An event that was never
/// recorded has passed.
///
/// ```
/// use ptx2spv_runtime::{Config, Device};
///
/// let device = Device::reference(Config::default());
/// let (buffer, stream) = (device.alloc(4000)?, device.stream());
/// let (start, end) = (device.timing_event()?, device.timing_event()?);
/// start.record(&stream)?;
/// stream.set(buffer.address(), 1_u32, 1000)?;
/// end.record(&stream)?;
/// end.synchronize()?;
/// println!("{:?}", end.elapsed_since(&start)?);
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
pub struct Event {
    device: Device,
    /// The timer of a timing event.
    timer: Option<Box<dyn Timer>>,
    recorded: Mutex<Option<Position>>,
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Event({:?})", self.recorded())
    }
}

impl Device {
    /// Creates an event without timing.
    pub fn event(&self) -> Event {
        Event { device: self.clone(), timer: None, recorded: Mutex::default() }
    }

    /// Creates an event that records the time.
    ///
    /// # Errors
    /// [`Error::NoTimestamps`] if the device can't measure times, [`Error::OutOfMemory`].
    pub fn timing_event(&self) -> Result<Event> {
        Ok(Event { timer: Some(self.timer()?), ..self.event() })
    }
}

impl Stream {
    /// Makes the stream's next command wait for the event as recorded now. An event that was never recorded has no
    /// effect. Devices can't wait for each other: for an event of another device, the call itself waits.
    ///
    /// # Errors
    /// [`Error::DeviceLost`], and the errors of [`Event::synchronize`] if the event belongs to another device.
    pub fn wait_event(&self, event: &Event) -> Result {
        if !self.device().is(event.device()) {
            return event.synchronize();
        }
        if let Some(recorded) = event.recorded() {
            self.device().join(self.state(), recorded);
            self.device().backend().follow(self.state().key(), recorded.point)?;
        }
        Ok(())
    }
}

impl Event {
    /// The device that the event belongs to.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Records the event: it stands for everything submitted to the stream so far.
    ///
    /// # Errors
    /// [`Error::ForeignBuffer`] if the stream belongs to another device, [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub fn record(&self, stream: &Stream) -> Result {
        self.device.check_same(stream.device())?;
        let mut recorded = lock(&self.recorded);
        if let Some(timer) = &self.timer {
            self.device.submit_harmless(stream.state(), |_, key| timer.record(key))?;
        }
        *recorded = Some(self.device.position(stream.state()));
        Ok(())
    }

    pub(crate) fn recorded(&self) -> Option<Position> {
        *lock(&self.recorded)
    }

    /// Whether everything before the event has finished.
    ///
    /// # Errors
    /// [`Error::DeviceLost`].
    pub fn has_passed(&self) -> Result<bool> {
        self.recorded().map_or(Ok(true), |position| self.device.has_passed(position))
    }

    /// Waits until everything before the event has finished.
    ///
    /// # Errors
    /// The errors of [`Device::synchronize`].
    pub fn synchronize(&self) -> Result {
        self.synchronize_for(Duration::MAX)
    }

    /// Like [`Event::synchronize`], but waits for at most `limit`, and no longer than [`Device::set_wait_limit`] allows. After
    /// a timeout the work continues, and can be waited for again.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use ptx2spv_runtime::{Config, Device, Error};
    ///
    /// let device = Device::reference(Config::default());
    /// let (stream, event) = (device.stream(), device.event());
    /// // A long task.
    /// stream.call(|| std::thread::sleep(Duration::from_millis(100)))?;
    /// event.record(&stream)?;
    /// assert!(matches!(event.synchronize_for(Duration::from_millis(1)), Err(Error::Timeout)));
    /// event.synchronize()?;
    /// # Ok::<(), ptx2spv_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Timeout`], and the errors of [`Event::synchronize`].
    pub fn synchronize_for(&self, limit: Duration) -> Result {
        self.device.finish(self.recorded().unwrap_or_default(), limit)
    }

    /// The time from another event to this one, after waiting for both; zero if this one came first.
    ///
    /// # Errors
    /// [`Error::NoTime`] unless both are timing events of one device and have been recorded, and the errors of
    /// [`Event::synchronize`].
    pub fn elapsed_since(&self, start: &Self) -> Result<Duration> {
        self.device.check_same(&start.device)?;
        let ticks = |event: &Self| match (&event.timer, event.recorded()) {
            (Some(timer), Some(position)) => {
                event.device.wait_until(position, event.device.deadline())?;
                timer.ticks()
            }
            _ => Err(Error::NoTime),
        };
        Ok(self.device.backend().elapsed(ticks(start)?, ticks(self)?))
    }
}

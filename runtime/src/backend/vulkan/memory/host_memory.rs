//! The host's memory, which is that of CPU devices.

use crate::backend::range::MemoryInfo;

/// Total and available memory; `None` if the system doesn't say.
pub(crate) fn host_memory() -> Option<MemoryInfo> {
    read(&std::fs::read_to_string("/proc/meminfo").ok()?)
}

/// Reads Linux's `/proc/meminfo`.
fn read(text: &str) -> Option<MemoryInfo> {
    let bytes = |name| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
    };
    Some(MemoryInfo { free: bytes("MemAvailable")?, total: bytes("MemTotal")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meminfo() {
        let text = "MemTotal:       24684028 kB\nMemFree:         3348972 kB\nMemAvailable:   22374112 kB\n";
        assert_eq!(read(text), Some(MemoryInfo { free: 22_374_112 << 10, total: 24_684_028 << 10 }));
        assert_eq!(read("MemTotal: 1 kB\n"), None);
        assert_eq!(read("MemTotal: 1 kB\nMemAvailable: many kB\n"), None);
    }
}

//! Sorting, graphs and sparse matrices.

use super::workload::{Workload, kernel, linear};

pub fn all(quick: bool) -> Vec<Workload> {
    let size = |real: u32, small: u32| if quick { small } else { real };
    vec![
        radix_sort(size(1 << 16, 2)),
        merge_sort(size(1 << 16, 2)),
        spmv_vector(size(1 << 20, 1 << 6)),
        bfs(size(1 << 22, 1 << 8)),
        compaction(size(1 << 26, 1 << 9)),
    ]
}

fn radix_sort(blocks: u32) -> Workload {
    let n = blocks * 1024;
    kernel!("radix_sort").workload(
        "radix sort, one pass",
        format!("{blocks} blocks of 1024 u32"),
        linear(blocks * 256, 256),
        [format!("u32[{n}]:random(1)"), format!("u32[{n}]"), format!("u32[{}]", blocks * 16), "u32:8".into()],
    )
}

fn merge_sort(blocks: u32) -> Workload {
    let n = blocks * 1024;
    kernel!("merge_sort").workload(
        "merge sort",
        format!("{blocks} blocks of 1024 u32"),
        linear(blocks * 256, 256),
        [format!("u32[{n}]:random(1)"), format!("u32[{n}]")],
    )
}

/// 64 elements in each row.
fn spmv_vector(rows: u32) -> Workload {
    let elements = rows * 64;
    kernel!("spmv_vector").workload(
        "sparse matrix, warps",
        format!("{rows} rows of 64 f32"),
        linear(rows * 32, 128),
        [
            format!("u32[{}]:iota(64)", rows + 1),
            format!("u32[{elements}]:random(1,0,{rows})"),
            format!("f32[{elements}]:random(2)"),
            format!("f32[{rows}]:random(3)"),
            format!("f32[{rows}]"),
            format!("u32:{rows}"),
        ],
    )
}

/// 16 edges at each node. Every 32nd node is at the level to expand.
fn bfs(nodes: u32) -> Workload {
    kernel!("bfs").workload(
        "breadth-first search, one level",
        format!("{nodes} nodes, {} edges", nodes * 16),
        linear(nodes, 256),
        [
            format!("u32[{}]:iota(16)", nodes + 1),
            format!("u32[{}]:random(1,0,{nodes})", nodes * 16),
            format!("u32[{nodes}]:random(2,0,32)"),
            "u32[1]".into(),
            "u32:7".into(),
            format!("u32:{nodes}"),
        ],
    )
}

fn compaction(keys: u32) -> Workload {
    kernel!("compaction").workload(
        "compaction by warps",
        format!("{keys} u32"),
        linear(keys, 256),
        [format!("u32[{keys}]:random(1)"), format!("u32[{keys}]"), format!("u32[{}]", keys / 8)],
    )
}

//! Sorting, searching, graphs and sparse matrices.

use super::workload::{Workload, kernel, linear};

pub fn all(quick: bool) -> Vec<Workload> {
    let size = |real: u32, small: u32| if quick { small } else { real };
    vec![
        radix_sort(size(1 << 16, 2)),
        merge_sort(size(1 << 16, 2)),
        spmv_vector(size(1 << 20, 1 << 6)),
        bfs(size(1 << 22, 1 << 8)),
        compaction(size(1 << 26, 1 << 9)),
        merge_path(size(1 << 25, 1 << 9)),
        floyd_warshall(size(8192, 64)),
        hash_lookup(size(1 << 22, 1 << 8), size(1 << 24, 1 << 9)),
        short_range_forces(size(1 << 20, 1 << 8)),
        nearest(size(1 << 16, 1 << 8), size(4096, 64)),
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

fn merge_path(each: u32) -> Workload {
    kernel!("merge_path").workload(
        "merge of sorted arrays",
        format!("{each} u32 each"),
        linear(each / 4, 256),
        [
            format!("u32[{each}]:iota(3)"),
            format!("u32[{each}]:iota(5)"),
            format!("u32[{}]", 2 * each),
            format!("u32:{each}"),
            format!("u32:{each}"),
        ],
    )
}

fn floyd_warshall(nodes: u32) -> Workload {
    let n = nodes * nodes;
    kernel!("floyd_warshall").workload(
        "shortest paths, one step",
        format!("{nodes} nodes, 32 of them between"),
        ([nodes / 32, nodes / 32, 1], [32, 8, 1]),
        [format!("s32[{n}]:random(1,0,1000)"), format!("s32[{n}]"), format!("u32:{nodes}"), "u32:1".into()],
    )
}

/// A quarter of the places is empty.
fn hash_lookup(places: u32, keys: u32) -> Workload {
    kernel!("hash_lookup").workload(
        "look-up in a hash table",
        format!("{keys} keys, {places} places"),
        linear(keys, 256),
        [
            format!("u32[{places}]:random(1)"),
            format!("u32[{keys}]:random(2)"),
            format!("u32[{keys}]"),
            format!("u32:{}", places - 1),
        ],
    )
}

fn short_range_forces(particles: u32) -> Workload {
    kernel!("short_range_forces").workload(
        "short-range forces",
        format!("{particles} particles, 64 neighbours each"),
        linear(particles, 128),
        [
            format!("f32[{}]:random(1,-4,4)", 4 * particles),
            format!("u32[{}]:random(2,0,{particles})", 64 * particles),
            format!("f32[{}]", 4 * particles),
            format!("u32:{particles}"),
            "u32:64".into(),
            "f32:9".into(),
        ],
    )
}

fn nearest(queries: u32, points: u32) -> Workload {
    kernel!("nearest").workload(
        "nearest neighbours",
        format!("8 of {points} points for {queries}"),
        linear(queries, 128),
        [
            format!("f32[{}]:random(1)", 4 * queries),
            format!("f32[{}]:random(2)", 4 * points),
            format!("f32[{}]", 8 * queries),
            format!("u32[{}]", 8 * queries),
            format!("u32:{points}"),
        ],
    )
}

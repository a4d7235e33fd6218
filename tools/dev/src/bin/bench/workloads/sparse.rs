//! Sorting, searching, graphs and sparse matrices.

use super::workload::{linear, rows};

rows! { "/kernels/";
    radix_sort(blocks: 1 << 16 => 2; n = blocks * 1024, counts = blocks * 16):
        "radix sort, one pass", "{blocks} blocks of 1024 u32", linear(blocks * 256, 256),
        "u32[{n}]:random(1) u32[{n}] u32[{counts}] u32:8";
    merge_sort(blocks: 1 << 16 => 2; n = blocks * 1024):
        "merge sort", "{blocks} blocks of 1024 u32", linear(blocks * 256, 256),
        "u32[{n}]:random(1) u32[{n}]";
    // 64 elements in each row.
    spmv_vector(rows: 1 << 20 => 1 << 6; elements = rows * 64, ends = rows + 1):
        "sparse matrix, warps", "{rows} rows of 64 f32", linear(rows * 32, 128),
        "u32[{ends}]:iota(64) u32[{elements}]:random(1,0,{rows}) f32[{elements}]:random(2) f32[{rows}]:random(3) f32[{rows}] u32:{rows}";
    // 16 edges at each node. Every 32nd node is at the level to expand.
    bfs(nodes: 1 << 22 => 1 << 8; edges = nodes * 16, ends = nodes + 1):
        "breadth-first search, one level", "{nodes} nodes, {edges} edges", linear(nodes, 256),
        "u32[{ends}]:iota(16) u32[{edges}]:random(1,0,{nodes}) u32[{nodes}]:random(2,0,32) u32[1] u32:7 u32:{nodes}";
    compaction(keys: 1 << 26 => 1 << 9; warps = keys / 8): "compaction by warps", "{keys} u32", linear(keys, 256),
        "u32[{keys}]:random(1) u32[{keys}] u32[{warps}]";
    merge_path(each: 1 << 25 => 1 << 9; both = 2 * each):
        "merge of sorted arrays", "{each} u32 each", linear(each / 4, 256),
        "u32[{each}]:iota(3) u32[{each}]:iota(5) u32[{both}] u32:{each} u32:{each}";
    floyd_warshall(nodes: 8192 => 64; n = nodes * nodes):
        "shortest paths, one step", "{nodes} nodes, 32 of them between", ([nodes / 32, nodes / 32, 1], [32, 8, 1]),
        "s32[{n}]:random(1,0,1000) s32[{n}] u32:{nodes} u32:1";
    // A quarter of the places is empty.
    hash_lookup(places: 1 << 22 => 1 << 8, keys: 1 << 24 => 1 << 9; last = places - 1):
        "look-up in a hash table", "{keys} keys, {places} places", linear(keys, 256),
        "u32[{places}]:random(1) u32[{keys}]:random(2) u32[{keys}] u32:{last}";
    short_range_forces(particles: 1 << 20 => 1 << 8; floats = 4 * particles, pairs = 64 * particles):
        "short-range forces", "{particles} particles, 64 neighbours each", linear(particles, 128),
        "f32[{floats}]:random(1,-4,4) u32[{pairs}]:random(2,0,{particles}) f32[{floats}] u32:{particles} u32:64 f32:9";
    nearest(queries: 1 << 16 => 1 << 8, points: 4096 => 64; floats = 4 * queries, others = 4 * points, results = 8 * queries):
        "nearest neighbours", "8 of {points} points for {queries}", linear(queries, 128),
        "f32[{floats}]:random(1) f32[{others}]:random(2) f32[{results}] u32[{results}] u32:{points}";
}

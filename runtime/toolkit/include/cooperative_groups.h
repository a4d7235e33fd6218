/* Cooperative groups: blocks, clusters, grids, tiles of a warp and the threads that are active together, with reductions and scans of tiles. */
#ifndef PTX2SPV_COOPERATIVE_GROUPS_H
#define PTX2SPV_COOPERATIVE_GROUPS_H
#include "cuda_runtime.h"

#ifdef __CUDA__
namespace cooperative_groups {
#define PTX2SPV_GROUP static __device__ __inline__
#define PTX2SPV_METHOD __device__ __inline__

namespace details {
PTX2SPV_GROUP unsigned int lane()
{
    unsigned int lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}
PTX2SPV_GROUP unsigned int lanes_below()
{
    unsigned int mask;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
    return mask;
}
PTX2SPV_GROUP unsigned int rank_in_block() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
PTX2SPV_GROUP unsigned int threads_of_block() { return blockDim.x * blockDim.y * blockDim.z; }
/* Values of any size are moved in words. */
template <class T, class F> PTX2SPV_GROUP T by_words(const T &value, F move)
{
    constexpr int words = (sizeof(T) + 3) / 4;
    unsigned int list[words] = {};
    __builtin_memcpy(list, &value, sizeof(T));
#pragma unroll
    for (int i = 0; i < words; i++) list[i] = move(list[i]);
    T result;
    __builtin_memcpy(&result, list, sizeof(T));
    return result;
}
} // namespace details

class thread_block {
  public:
    struct arrival_token {};

    static PTX2SPV_METHOD void sync() { __syncthreads(); }
    PTX2SPV_METHOD arrival_token barrier_arrive() const { return arrival_token(); }
    PTX2SPV_METHOD void barrier_wait() const { __syncthreads(); }
    PTX2SPV_METHOD void barrier_wait(arrival_token) const { __syncthreads(); }
    static PTX2SPV_METHOD unsigned int thread_rank() { return details::rank_in_block(); }
    static PTX2SPV_METHOD unsigned int size() { return details::threads_of_block(); }
    static PTX2SPV_METHOD unsigned int num_threads() { return details::threads_of_block(); }
    static PTX2SPV_METHOD dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    static PTX2SPV_METHOD dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
    static PTX2SPV_METHOD dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
    static PTX2SPV_METHOD dim3 dim_threads() { return group_dim(); }
};
PTX2SPV_GROUP thread_block this_thread_block() { return thread_block(); }

/* The device runtime's barrier of a grid, which the translator knows by its name. Only cooperative launches have a handle. */
extern "C" __device__ unsigned long long cudaCGGetIntrinsicHandle(int scope);
extern "C" __device__ int cudaCGSynchronize(unsigned long long handle, unsigned int flags);

/* All threads of a grid. In an ordinary launch `is_valid` is false, and `sync` is a trap. */
class grid_group {
  public:
    struct arrival_token {};

    PTX2SPV_METHOD bool is_valid() const { return cudaCGGetIntrinsicHandle(1) != 0; }
    PTX2SPV_METHOD void sync() const
    {
        if (cudaCGSynchronize(cudaCGGetIntrinsicHandle(1), 0)) __trap();
    }
    /* All of the waiting is that of `barrier_wait`, as in blocks. */
    PTX2SPV_METHOD arrival_token barrier_arrive() const { return arrival_token(); }
    PTX2SPV_METHOD void barrier_wait(arrival_token = arrival_token()) const { sync(); }
    PTX2SPV_METHOD unsigned long long block_rank() const
    {
        return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    PTX2SPV_METHOD unsigned long long num_blocks() const { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
    PTX2SPV_METHOD unsigned long long thread_rank() const { return block_rank() * details::threads_of_block() + details::rank_in_block(); }
    PTX2SPV_METHOD unsigned long long size() const { return num_blocks() * details::threads_of_block(); }
    PTX2SPV_METHOD unsigned long long num_threads() const { return size(); }
    PTX2SPV_METHOD dim3 group_dim() const { return dim3(gridDim.x, gridDim.y, gridDim.z); }
    PTX2SPV_METHOD dim3 dim_blocks() const { return group_dim(); }
    PTX2SPV_METHOD dim3 block_index() const { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
};
PTX2SPV_GROUP grid_group this_grid() { return grid_group(); }

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
/* Blocks that run together, and reach each other's shared memory. A launch without clusters has those of one block. */
class cluster_group {
#define PTX2SPV_CLUSTER_NUMBER(name, symbol)                 \
    static PTX2SPV_METHOD unsigned int name()                \
    {                                                        \
        unsigned int number;                                 \
        asm("mov.u32 %0, %%" symbol ";" : "=r"(number));     \
        return number;                                       \
    }
    PTX2SPV_CLUSTER_NUMBER(block_x, "cluster_ctaid.x")
    PTX2SPV_CLUSTER_NUMBER(block_y, "cluster_ctaid.y")
    PTX2SPV_CLUSTER_NUMBER(block_z, "cluster_ctaid.z")
    PTX2SPV_CLUSTER_NUMBER(blocks_x, "cluster_nctaid.x")
    PTX2SPV_CLUSTER_NUMBER(blocks_y, "cluster_nctaid.y")
    PTX2SPV_CLUSTER_NUMBER(blocks_z, "cluster_nctaid.z")

  public:
    struct arrival_token {};

    PTX2SPV_CLUSTER_NUMBER(block_rank, "cluster_ctarank")
    PTX2SPV_CLUSTER_NUMBER(num_blocks, "cluster_nctarank")
#undef PTX2SPV_CLUSTER_NUMBER
    static PTX2SPV_METHOD arrival_token barrier_arrive()
    {
        asm volatile("barrier.cluster.arrive;" ::: "memory");
        return arrival_token();
    }
    static PTX2SPV_METHOD void barrier_wait(arrival_token = arrival_token())
    {
        asm volatile("barrier.cluster.wait;" ::: "memory");
    }
    static PTX2SPV_METHOD void sync() { barrier_wait(barrier_arrive()); }
    static PTX2SPV_METHOD dim3 block_index() { return dim3(block_x(), block_y(), block_z()); }
    static PTX2SPV_METHOD dim3 dim_blocks() { return dim3(blocks_x(), blocks_y(), blocks_z()); }
    static PTX2SPV_METHOD dim3 thread_index()
    {
        return dim3(block_x() * blockDim.x + threadIdx.x, block_y() * blockDim.y + threadIdx.y, block_z() * blockDim.z + threadIdx.z);
    }
    static PTX2SPV_METHOD dim3 dim_threads()
    {
        return dim3(blocks_x() * blockDim.x, blocks_y() * blockDim.y, blocks_z() * blockDim.z);
    }
    static PTX2SPV_METHOD unsigned int thread_rank() { return block_rank() * details::threads_of_block() + details::rank_in_block(); }
    static PTX2SPV_METHOD unsigned int num_threads() { return num_blocks() * details::threads_of_block(); }
    static PTX2SPV_METHOD unsigned int size() { return num_threads(); }
    /* The place of a shared variable in another block of the cluster. */
    template <class T> static PTX2SPV_METHOD T *map_shared_rank(T *variable, int rank)
    {
        T *mapped;
        asm("mapa.u64 %0, %1, %2;" : "=l"(mapped) : "l"(variable), "r"(rank));
        return mapped;
    }
    /* The block that a pointer to shared memory belongs to. */
    static PTX2SPV_METHOD unsigned int query_shared_rank(const void *variable)
    {
        unsigned int rank;
        asm("getctarank.u64 %0, %1;" : "=r"(rank) : "l"(variable));
        return rank;
    }
};
PTX2SPV_GROUP cluster_group this_cluster() { return cluster_group(); }
#endif

/* Threads of a warp by a mask of lanes. */
class coalesced_group {
  protected:
    unsigned int mask;

    /* The number of this group among those that a group was divided into, and their count. */
    unsigned int number, count;

    /* The lane of the thread with this rank. */
    PTX2SPV_METHOD unsigned int lane_of(unsigned int rank) const { return mask == 0xffffffff ? rank : __fns(mask, 0, (int)rank + 1); }
    /* Bits of lanes in the order of ranks. */
    PTX2SPV_METHOD unsigned int by_ranks(unsigned int lanes) const
    {
        unsigned int ranks = 0;
        if (mask == 0xffffffff) return lanes;
        for (unsigned int rest = mask, rank = 0; rest != 0; rest &= rest - 1, rank++)
            ranks |= (lanes >> (__ffs((int)rest) - 1) & 1) << rank;
        return ranks;
    }

  public:
    explicit PTX2SPV_METHOD coalesced_group(unsigned int lanes, unsigned int number = 0, unsigned int count = 1)
        : mask(lanes), number(number), count(count)
    {
    }
    PTX2SPV_METHOD unsigned int lanes() const { return mask; }
    PTX2SPV_METHOD void sync() const { __syncwarp(mask); }
    PTX2SPV_METHOD unsigned int size() const { return __popc(mask); }
    PTX2SPV_METHOD unsigned int num_threads() const { return size(); }
    PTX2SPV_METHOD unsigned int thread_rank() const { return __popc(mask & details::lanes_below()); }
    PTX2SPV_METHOD unsigned int meta_group_rank() const { return number; }
    PTX2SPV_METHOD unsigned int meta_group_size() const { return count; }
    PTX2SPV_METHOD int any(int predicate) const { return __ballot_sync(mask, predicate) != 0; }
    PTX2SPV_METHOD int all(int predicate) const { return __all_sync(mask, predicate); }
    PTX2SPV_METHOD unsigned int ballot(int predicate) const { return by_ranks(__ballot_sync(mask, predicate)); }
    template <class T> PTX2SPV_METHOD T shfl(T value, unsigned int rank) const
    {
        int lane = (int)lane_of(rank % size());
        return details::by_words(value, [=](unsigned int word) { return __shfl_sync(mask, word, lane); });
    }
    template <class T> PTX2SPV_METHOD T shfl_down(T value, unsigned int distance) const
    {
        unsigned int rank = thread_rank();
        return shfl(value, rank + distance < size() ? rank + distance : rank);
    }
    template <class T> PTX2SPV_METHOD T shfl_up(T value, unsigned int distance) const
    {
        unsigned int rank = thread_rank();
        return shfl(value, rank >= distance ? rank - distance : rank);
    }
    template <class T> PTX2SPV_METHOD T shfl_xor(T value, unsigned int bits) const
    {
        unsigned int rank = thread_rank(), other = rank ^ bits;
        return shfl(value, other < size() ? other : rank);
    }
    template <class T> PTX2SPV_METHOD unsigned int match_any(T value) const { return by_ranks(__match_any_sync(mask, value)); }
    template <class T> PTX2SPV_METHOD unsigned int match_all(T value, int &all) const
    {
        return by_ranks(__match_all_sync(mask, value, &all));
    }
};
PTX2SPV_GROUP coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

template <unsigned int width, class Parent = void> class thread_block_tile;

namespace details {
/* The place of a tile among those of its block, of a larger tile, or of a group that is only known when the program runs. */
template <unsigned int width, class Parent> struct place {
    static PTX2SPV_METHOD unsigned int meta_group_rank() { return rank_in_block() / width; }
    static PTX2SPV_METHOD unsigned int meta_group_size() { return (threads_of_block() + width - 1) / width; }
};
template <unsigned int width, unsigned int whole, class Parent> struct place<width, thread_block_tile<whole, Parent>> {
    static PTX2SPV_METHOD unsigned int meta_group_rank() { return rank_in_block() % whole / width; }
    static PTX2SPV_METHOD unsigned int meta_group_size() { return whole / width; }
};
template <unsigned int width> struct place<width, void> {
    unsigned int number, count;

    place() = default;
    template <class Tile> explicit PTX2SPV_METHOD place(const Tile &tile) : number(tile.meta_group_rank()), count(tile.meta_group_size()) {}
    PTX2SPV_METHOD unsigned int meta_group_rank() const { return number; }
    PTX2SPV_METHOD unsigned int meta_group_size() const { return count; }
};
} // namespace details

/* `width` neighbours of a warp. */
template <unsigned int width, class Parent> class thread_block_tile : public details::place<width, Parent> {
    static_assert(width <= 32 && (width & (width - 1)) == 0, "tiles of up to a warp");

    /* Bits of lanes from the tile's first one. */
    static PTX2SPV_METHOD unsigned int by_ranks(unsigned int lanes) { return lanes >> (details::lane() / width * width); }

  public:
    thread_block_tile() = default;
    /* A tile of any group is one of no group in particular. */
    template <class Other> PTX2SPV_METHOD thread_block_tile(const thread_block_tile<width, Other> &other) : details::place<width, Parent>(other) {}
    PTX2SPV_METHOD unsigned int lanes() const
    {
        return width == 32 ? 0xffffffff : ((1u << (width % 32)) - 1) << (details::lane() / width * width);
    }
    PTX2SPV_METHOD void sync() const { __syncwarp(lanes()); }
    static constexpr __host__ __device__ unsigned int size() { return width; }
    static constexpr __host__ __device__ unsigned int num_threads() { return width; }
    PTX2SPV_METHOD unsigned int thread_rank() const { return details::rank_in_block() % width; }
    PTX2SPV_METHOD int any(int predicate) const { return (__ballot_sync(lanes(), predicate) & lanes()) != 0; }
    PTX2SPV_METHOD int all(int predicate) const { return __all_sync(lanes(), predicate); }
    PTX2SPV_METHOD unsigned int ballot(int predicate) const { return by_ranks(__ballot_sync(lanes(), predicate) & lanes()); }
    template <class T> PTX2SPV_METHOD T shfl(T value, int rank) const
    {
        return details::by_words(value, [=](unsigned int word) { return __shfl_sync(lanes(), word, rank, width); });
    }
    template <class T> PTX2SPV_METHOD T shfl_down(T value, unsigned int distance) const
    {
        return details::by_words(value, [=](unsigned int word) { return __shfl_down_sync(lanes(), word, distance, width); });
    }
    template <class T> PTX2SPV_METHOD T shfl_up(T value, unsigned int distance) const
    {
        return details::by_words(value, [=](unsigned int word) { return __shfl_up_sync(lanes(), word, distance, width); });
    }
    template <class T> PTX2SPV_METHOD T shfl_xor(T value, unsigned int bits) const
    {
        return details::by_words(value, [=](unsigned int word) { return __shfl_xor_sync(lanes(), word, (int)bits, width); });
    }
    template <class T> PTX2SPV_METHOD unsigned int match_any(T value) const { return by_ranks(__match_any_sync(lanes(), value)); }
    template <class T> PTX2SPV_METHOD unsigned int match_all(T value, int &all) const
    {
        return by_ranks(__match_all_sync(lanes(), value, &all));
    }
};
template <unsigned int width, class Parent> PTX2SPV_GROUP thread_block_tile<width, Parent> tiled_partition(const Parent &)
{
    return thread_block_tile<width, Parent>();
}
/* Any group of a block: the block, or threads of a warp. */
class thread_group : public coalesced_group {
    bool is_block;

  public:
    PTX2SPV_METHOD thread_group(unsigned int lanes, unsigned int number, unsigned int count)
        : coalesced_group(lanes, number, count), is_block(false)
    {
    }
    PTX2SPV_METHOD thread_group(const thread_block &) : coalesced_group(0), is_block(true) {}
    PTX2SPV_METHOD thread_group(const coalesced_group &group) : coalesced_group(group), is_block(false) {}
    template <unsigned int width, class Parent>
    PTX2SPV_METHOD thread_group(const thread_block_tile<width, Parent> &tile)
        : coalesced_group(tile.lanes(), tile.meta_group_rank(), tile.meta_group_size()), is_block(false)
    {
    }
    PTX2SPV_METHOD void sync() const
    {
        if (is_block) __syncthreads();
        else coalesced_group::sync();
    }
    PTX2SPV_METHOD unsigned int size() const { return is_block ? details::threads_of_block() : coalesced_group::size(); }
    PTX2SPV_METHOD unsigned int num_threads() const { return size(); }
    PTX2SPV_METHOD unsigned int thread_rank() const { return is_block ? details::rank_in_block() : coalesced_group::thread_rank(); }
};
/* `width` neighbours in the order of the group's ranks. */
PTX2SPV_GROUP thread_group tiled_partition(const thread_group &parent, unsigned int width)
{
    unsigned int rank = parent.thread_rank(), lanes = parent.lanes();
    if (lanes == 0) {
        lanes = width >= 32 ? 0xffffffff : ((1u << width) - 1) << (details::lane() / width * width);
    } else {
        unsigned int other = 0;
        for (unsigned int rest = lanes; rest != 0; rest &= rest - 1, other++)
            if (other / width != rank / width) lanes &= ~(rest & -rest);
        return thread_group(lanes, rank / width, (parent.size() + width - 1) / width);
    }
    unsigned int left = parent.size() - rank / 32 * 32;
    if (left < 32) lanes &= (1u << left) - 1;
    return thread_group(lanes, rank / width, (parent.size() + width - 1) / width);
}
/* The threads of a group for which `label` is the same, or for which `predicate` is. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
template <class Group, class T> PTX2SPV_GROUP coalesced_group labeled_partition(const Group &group, T label)
{
    unsigned int own = __match_any_sync(group.lanes(), label), leader = __ffs((int)own) - 1;
    unsigned int leaders = __ballot_sync(group.lanes(), details::lane() == leader) & group.lanes();
    return coalesced_group(own, (unsigned int)__popc(leaders & ((1u << leader) - 1)), (unsigned int)__popc(leaders));
}
#endif
template <class Group> PTX2SPV_GROUP coalesced_group binary_partition(const Group &group, bool predicate)
{
    unsigned int all = group.lanes(), lanes = __ballot_sync(all, predicate) & all;
    if (lanes == all || lanes == 0) return coalesced_group(all);
    return coalesced_group(predicate ? lanes : all & ~lanes, predicate, 2);
}
template <class Group> PTX2SPV_GROUP void sync(const Group &group) { group.sync(); }
template <class Group> PTX2SPV_GROUP unsigned int thread_rank(const Group &group) { return (unsigned int)group.thread_rank(); }
template <class Group> PTX2SPV_GROUP unsigned int group_size(const Group &group) { return (unsigned int)group.size(); }

/* One thread of the group calls a function, of whose result each thread of a warp's group gets a copy. */
template <class Group, class F, class... A> PTX2SPV_GROUP void invoke_one(const Group &group, F &&function, A &&...arguments)
{
    if (group.thread_rank() == 0) static_cast<F &&>(function)(static_cast<A &&>(arguments)...);
}
template <class Group, class F, class... A>
PTX2SPV_GROUP auto invoke_one_broadcast(const Group &group, F &&function, A &&...arguments)
    -> decltype(static_cast<F &&>(function)(static_cast<A &&>(arguments)...))
{
    decltype(static_cast<F &&>(function)(static_cast<A &&>(arguments)...)) result = {};
    if (group.thread_rank() == 0) result = static_cast<F &&>(function)(static_cast<A &&>(arguments)...);
    return group.shfl(result, 0);
}

template <class T> struct plus {
    PTX2SPV_METHOD T operator()(T a, T b) const { return a + b; }
};
template <class T> struct less {
    PTX2SPV_METHOD T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T> struct greater {
    PTX2SPV_METHOD T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T> struct bit_and {
    PTX2SPV_METHOD T operator()(T a, T b) const { return a & b; }
};
template <class T> struct bit_or {
    PTX2SPV_METHOD T operator()(T a, T b) const { return a | b; }
};
template <class T> struct bit_xor {
    PTX2SPV_METHOD T operator()(T a, T b) const { return a ^ b; }
};

/* Over all threads of the group; each gets the result. */
template <class Group, class T, class F> PTX2SPV_GROUP T reduce(const Group &group, T value, F &&combine)
{
    unsigned int count = group.size(), rank = group.thread_rank();
    for (unsigned int distance = 1; distance < count; distance *= 2) {
        T other = group.shfl_down(value, distance);
        if (rank + distance < count) value = combine(value, other);
    }
    return group.shfl(value, 0);
}
template <class Group, class T, class F> PTX2SPV_GROUP T inclusive_scan(const Group &group, T value, F &&combine)
{
    unsigned int count = group.size(), rank = group.thread_rank();
    for (unsigned int distance = 1; distance < count; distance *= 2) {
        T other = group.shfl_up(value, distance);
        if (rank >= distance) value = combine(other, value);
    }
    return value;
}
template <class Group, class T> PTX2SPV_GROUP T inclusive_scan(const Group &group, T value) { return inclusive_scan(group, value, plus<T>()); }
template <class Group, class T, class F> PTX2SPV_GROUP T exclusive_scan(const Group &group, T value, F &&combine)
{
    T before = group.shfl_up(inclusive_scan(group, value, combine), 1);
    return group.thread_rank() == 0 ? T() : before;
}
template <class Group, class T> PTX2SPV_GROUP T exclusive_scan(const Group &group, T value) { return exclusive_scan(group, value, plus<T>()); }

/* Copies that a group carries out together; they are done when the call returns, which `wait` then makes known to all of the group. */
template <class Group> PTX2SPV_GROUP void memcpy_async(const Group &group, void *to, const void *from, size_t bytes)
{
    for (size_t i = group.thread_rank(); i < bytes; i += group.size()) ((char *)to)[i] = ((const char *)from)[i];
}
template <class Group> PTX2SPV_GROUP void wait(const Group &group) { group.sync(); }
template <unsigned int stages, class Group> PTX2SPV_GROUP void wait_prior(const Group &group) { group.sync(); }

#undef PTX2SPV_GROUP
#undef PTX2SPV_METHOD
} // namespace cooperative_groups
#endif

#endif

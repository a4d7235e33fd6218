/* Barriers by which threads arrive and wait apart, as a class over cuda_awbarrier_primitives.h. */
#ifndef PTX2SPV_CUDA_AWBARRIER_H
#define PTX2SPV_CUDA_AWBARRIER_H
#include "cuda_awbarrier_primitives.h"

#if defined(__cplusplus) && defined(__CUDA__) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800)
namespace nvcuda {
namespace experimental {
class awbarrier {
    __mbarrier_t state;

  public:
    class arrival_token {
        __mbarrier_token_t token;
        friend class awbarrier;
        explicit __device__ arrival_token(__mbarrier_token_t token) : token(token) {}

      public:
        arrival_token() = default;
        __device__ uint32_t pending_count() const { return __mbarrier_token_pending_count(token); }
    };

    awbarrier() = default;
    awbarrier(const awbarrier &) = delete;
    awbarrier &operator=(const awbarrier &) = delete;

    __device__ arrival_token arrive() { return arrival_token(__mbarrier_arrive(&state)); }
    __device__ arrival_token arrive_and_drop() { return arrival_token(__mbarrier_arrive_and_drop(&state)); }
    __device__ void wait(arrival_token at)
    {
        while (!__mbarrier_test_wait(&state, at.token)) {
        }
    }
    /* The hint is how long to wait; one look at the barrier is a wait too. */
    __device__ bool timed_wait(arrival_token at, uint32_t) { return __mbarrier_test_wait(&state, at.token); }
    __device__ void arrive_and_wait() { wait(arrive()); }
    static constexpr __host__ __device__ uint32_t max() { return (1u << 20) - 1; }
    friend __device__ void init(awbarrier *barrier, uint32_t expected) { __mbarrier_init(&barrier->state, expected); }
    friend __device__ void inval(awbarrier *barrier) { __mbarrier_inval(&barrier->state); }
};
} // namespace experimental
} // namespace nvcuda
#endif

#endif

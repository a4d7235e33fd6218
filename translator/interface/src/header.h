#ifndef PTX2SPV_TYPES
#define PTX2SPV_TYPES 1

/* A parameter: its place in the parameter block, in bytes. */
typedef struct ptx2spv_param {
    const char *name;
    uint32_t offset, size;
} ptx2spv_param;

typedef struct ptx2spv_kernel {
    const char *name; /* of the entry point */
    const ptx2spv_param *params;
    uint32_t param_count;
    uint32_t params_size;         /* bytes of the parameter block */
    uint32_t params_in_buffer;    /* 1: it lies in a buffer; 0: in the push constants from byte 40 */
    uint32_t push_constant_size;  /* bytes */
    uint32_t shared_bytes;        /* static shared memory */
    uint32_t scratch_address;     /* byte of the push constants with the address of scratch memory; 0: it uses none */
    uint32_t scratch_local_bytes; /* of it for each invocation; 0: local memory lies elsewhere */
    uint32_t scratch_shared;      /* 1: all shared memory lies in it */
    uint32_t subgroup_size;       /* packing; 0: each thread is an invocation */
    uint32_t lanes;
    uint32_t required_block[3];   /* .reqntid; 0: any */
    uint32_t max_block[3];        /* .maxntid; 0: any */
    uint32_t block_multiple;      /* the block's threads, in whole warps, are a multiple of this; 0: any */
    uint32_t cooperative;         /* 1: made for cooperative launches, 2: waits for what it launches; byte 48 of the push constants has the address of a workspace then */
    uint32_t saved_words;         /* words there for each thread; 0: workgroups are not suspended */
    uint32_t launches;            /* 1: it may launch kernels */
    uint32_t report_count;        /* places from which it may report a fault */
    const uint32_t *report_lines; /* their lines in the PTX */
} ptx2spv_kernel;

/* Bytes to write to the variables' allocation. */
typedef struct ptx2spv_run {
    uint64_t offset, size;
    const uint8_t *bytes;
} ptx2spv_run;

/* (address of the variables' allocation + target) >> shift, its low `size` bytes at `offset`. */
typedef struct ptx2spv_relocation {
    uint64_t offset, target;
    uint32_t size, shift;
} ptx2spv_relocation;

#define PTX2SPV_NONE UINT64_MAX

typedef struct ptx2spv_module {
    uint32_t spirv_major, spirv_minor;
    const ptx2spv_kernel *kernels;
    uint32_t kernel_count;
    const char *const *features; /* Vulkan's names of what must be enabled */
    uint32_t feature_count;
    uint64_t variables_size;     /* bytes; 0: there are none */
    const ptx2spv_run *runs;
    uint32_t run_count;
    const ptx2spv_relocation *relocations;
    uint32_t relocation_count;
    uint32_t near;               /* 1: pointers have 32 bits, and reach less than 1 GiB before or behind the variables */
    uint64_t status_offset;      /* of the status record in the variables; PTX2SPV_NONE: there is none */
    uint64_t launches_offset;    /* of the region for launches in the variables; PTX2SPV_NONE: there is none */
    uint64_t launches_records;   /* offset of the first record in the region */
    uint32_t launches_capacity;  /* records */
    uint32_t launch_record_bytes;
    uint64_t launches_attributes; /* offset of the device's attributes in the region, which the host writes, or PTX2SPV_NONE */
    const char *const *launched; /* the kernels that records have the numbers of */
    uint32_t launched_count;
    const char *const *relies_on; /* what it takes for granted of the device: on others its results may be wrong */
    uint32_t relies_on_count;
} ptx2spv_module;

#endif

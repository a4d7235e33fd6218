/* The identifier of a device, for both APIs. */
#ifndef PTX2SPV_UUID_H
#define PTX2SPV_UUID_H
typedef struct CUuuid_st {
    char bytes[16];
} CUuuid;
typedef CUuuid cudaUUID_t;
#endif

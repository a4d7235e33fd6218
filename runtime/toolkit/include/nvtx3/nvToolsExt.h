/* NVTX marks ranges for NVIDIA's profilers, which don't see these programs: calls do nothing. */
#ifndef NVTX_VERSION
#define NVTX_VERSION 3
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))
#define NVTX_SUCCESS 0
#define NVTX_NO_PUSH_POP_TRACKING ((int)-2)

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration_st *nvtxDomainHandle_t;
typedef struct nvtxStringRegistration_st *nvtxStringHandle_t;
typedef struct nvtxResourceHandle_st *nvtxResourceHandle_t;
typedef enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 } nvtxColorType_t;
typedef enum nvtxMessageType_t {
    NVTX_MESSAGE_UNKNOWN = 0,
    NVTX_MESSAGE_TYPE_ASCII = 1,
    NVTX_MESSAGE_TYPE_UNICODE = 2,
    NVTX_MESSAGE_TYPE_REGISTERED = 3,
} nvtxMessageType_t;
typedef enum nvtxPayloadType_t {
    NVTX_PAYLOAD_UNKNOWN = 0,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
    NVTX_PAYLOAD_TYPE_INT64 = 2,
    NVTX_PAYLOAD_TYPE_DOUBLE = 3,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
    NVTX_PAYLOAD_TYPE_INT32 = 5,
    NVTX_PAYLOAD_TYPE_FLOAT = 6,
} nvtxPayloadType_t;
typedef union nvtxMessageValue_t {
    const char *ascii;
    const wchar_t *unicode;
    nvtxStringHandle_t registered;
} nvtxMessageValue_t;
typedef struct nvtxEventAttributes_v2 {
    uint16_t version, size;
    uint32_t category;
    int32_t colorType;
    uint32_t color;
    int32_t payloadType, reserved0;
    union payload_t {
        uint64_t ullValue;
        int64_t llValue;
        double dValue;
        uint32_t uiValue;
        int32_t iValue;
        float fValue;
    } payload;
    int32_t messageType;
    nvtxMessageValue_t message;
} nvtxEventAttributes_t;

/* A function that returns a value, and one that returns none. Parameters are named, as C wants. */
#define PTX2SPV_NVTX_VALUE(type, name, parameters, value) \
    static inline type name parameters { return value; }
#define PTX2SPV_NVTX(name, parameters) \
    static inline void name parameters {}
/* Functions for both kinds of text. */
#define PTX2SPV_NVTX_TEXTS(type, name, start, value)                    \
    PTX2SPV_NVTX_VALUE(type, name##A, (start const char *text), value)  \
    PTX2SPV_NVTX_VALUE(type, name##W, (start const wchar_t *text), value)
#define PTX2SPV_NVTX_NAMES(name, start)             \
    PTX2SPV_NVTX(name##A, (start const char *text)) \
    PTX2SPV_NVTX(name##W, (start const wchar_t *text))
#define PTX2SPV_NVTX_IN_DOMAIN nvtxDomainHandle_t domain,
#define PTX2SPV_NVTX_NUMBERED uint32_t number,
#define PTX2SPV_NVTX_NUMBERED_IN_DOMAIN nvtxDomainHandle_t domain, uint32_t number,

PTX2SPV_NVTX(nvtxInitialize, (const void *reserved))
PTX2SPV_NVTX(nvtxMarkEx, (const nvtxEventAttributes_t *event))
PTX2SPV_NVTX_NAMES(nvtxMark, )
PTX2SPV_NVTX_VALUE(nvtxRangeId_t, nvtxRangeStartEx, (const nvtxEventAttributes_t *event), 0)
PTX2SPV_NVTX_TEXTS(nvtxRangeId_t, nvtxRangeStart, , 0)
PTX2SPV_NVTX(nvtxRangeEnd, (nvtxRangeId_t range))
PTX2SPV_NVTX_VALUE(int, nvtxRangePushEx, (const nvtxEventAttributes_t *event), NVTX_NO_PUSH_POP_TRACKING)
PTX2SPV_NVTX_TEXTS(int, nvtxRangePush, , NVTX_NO_PUSH_POP_TRACKING)
PTX2SPV_NVTX_VALUE(int, nvtxRangePop, (void), NVTX_NO_PUSH_POP_TRACKING)
PTX2SPV_NVTX_NAMES(nvtxNameCategory, PTX2SPV_NVTX_NUMBERED)
PTX2SPV_NVTX_NAMES(nvtxNameOsThread, PTX2SPV_NVTX_NUMBERED)
PTX2SPV_NVTX_TEXTS(nvtxDomainHandle_t, nvtxDomainCreate, , 0)
PTX2SPV_NVTX(nvtxDomainDestroy, (nvtxDomainHandle_t domain))
PTX2SPV_NVTX(nvtxDomainMarkEx, (nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event))
PTX2SPV_NVTX_VALUE(nvtxRangeId_t, nvtxDomainRangeStartEx, (nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event), 0)
PTX2SPV_NVTX(nvtxDomainRangeEnd, (nvtxDomainHandle_t domain, nvtxRangeId_t range))
PTX2SPV_NVTX_VALUE(int, nvtxDomainRangePushEx, (nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event), NVTX_NO_PUSH_POP_TRACKING)
PTX2SPV_NVTX_VALUE(int, nvtxDomainRangePop, (nvtxDomainHandle_t domain), NVTX_NO_PUSH_POP_TRACKING)
PTX2SPV_NVTX_NAMES(nvtxDomainNameCategory, PTX2SPV_NVTX_NUMBERED_IN_DOMAIN)
PTX2SPV_NVTX_TEXTS(nvtxStringHandle_t, nvtxDomainRegisterString, PTX2SPV_NVTX_IN_DOMAIN, 0)

#define nvtxMark nvtxMarkA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxRangePush nvtxRangePushA
#define nvtxNameCategory nvtxNameCategoryA
#define nvtxNameOsThread nvtxNameOsThreadA
#define nvtxDomainCreate nvtxDomainCreateA
#define nvtxDomainNameCategory nvtxDomainNameCategoryA
#define nvtxDomainRegisterString nvtxDomainRegisterStringA

#undef PTX2SPV_NVTX
#undef PTX2SPV_NVTX_VALUE
#undef PTX2SPV_NVTX_TEXTS
#undef PTX2SPV_NVTX_NAMES
#undef PTX2SPV_NVTX_IN_DOMAIN
#undef PTX2SPV_NVTX_NUMBERED
#undef PTX2SPV_NVTX_NUMBERED_IN_DOMAIN
#endif

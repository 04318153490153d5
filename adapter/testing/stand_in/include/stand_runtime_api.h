/**
 * @file
 * The stand-in's runtime: functions of CUDA's shape, under names that begin
 * with "stand", over a library of the device ABI. For C and C++.
 *
 * All functions answer an error. standGetLastErrorMessage tells more.
 * The default stream (null) is one of the device's streams: no other waits for
 * it by itself.
 */
#ifndef STAND_RUNTIME_API_H_
#define STAND_RUNTIME_API_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What functions answer; numbers as CUDA has them. */
typedef enum standError {
  standSuccess = 0,
  standErrorInvalidValue = 1,
  standErrorMemoryAllocation = 2,
  standErrorInitializationError = 3,
  standErrorInvalidConfiguration = 9,
  standErrorNoDevice = 100,
  standErrorInvalidDevice = 101,
  standErrorPeerAccessUnsupported = 217,
  standErrorInvalidResourceHandle = 400,
  standErrorNotReady = 600,
  standErrorHostMemoryAlreadyRegistered = 712,
  standErrorHostMemoryNotRegistered = 713,
  standErrorLaunchFailure = 719, /**< the device is at fault until its reset */
  standErrorNotSupported = 801,
  standErrorUnknown = 999
} standError_t;

typedef struct standStream_st* standStream_t;
typedef struct standEvent_st* standEvent_t;
typedef void (*standHostFn_t)(void* data);

/** Which way a copy goes. Addresses say it as well: all are looked up. */
typedef enum standMemcpyKind {
  standMemcpyHostToHost = 0,
  standMemcpyHostToDevice = 1,
  standMemcpyDeviceToHost = 2,
  standMemcpyDeviceToDevice = 3,
  standMemcpyDefault = 4
} standMemcpyKind;

typedef enum standMemoryType {
  standMemoryTypeUnregistered = 0,
  standMemoryTypeHost = 1,
  standMemoryTypeDevice = 2
} standMemoryType;

typedef struct standPointerAttributes {
  standMemoryType type;
  int device; /**< of device memory; else -1 */
  void* devicePointer;
  void* hostPointer; /**< null where the host does not see it */
} standPointerAttributes;

typedef struct standDeviceProp {
  char name[256];
  unsigned char uuid[16];
  size_t totalGlobalMem;
  size_t sharedMemPerBlock;
  int regsPerBlock;
  int warpSize;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  int clockRate;
  int major;
  int minor;
  int multiProcessorCount;
  int maxThreadsPerMultiProcessor;
  int integrated;
  int canMapHostMemory;
} standDeviceProp;

typedef enum standDeviceAttr {
  standDevAttrMaxThreadsPerBlock = 1,
  standDevAttrMaxBlockDimX = 2,
  standDevAttrMaxGridDimX = 5,
  standDevAttrMaxSharedMemoryPerBlock = 8,
  standDevAttrWarpSize = 10,
  standDevAttrMultiProcessorCount = 16,
  standDevAttrComputeCapabilityMajor = 75,
  standDevAttrComputeCapabilityMinor = 76
} standDeviceAttr;

enum { standStreamDefault = 0, standStreamNonBlocking = 1 };
enum {
  standEventDefault = 0,
  standEventBlockingSync = 1,
  standEventDisableTiming = 2
};
enum { standHostAllocDefault = 0 };

/** @name Errors @{ */

const char* standGetErrorName(standError_t error);
const char* standGetErrorString(standError_t error);
/** The calling thread's last error, which is forgotten. */
standError_t standGetLastError(void);
standError_t standPeekAtLastError(void);
/** What the calling thread's last error was about, in words; never null. */
const char* standGetLastErrorMessage(void);

/** @} @name Devices @{ */

standError_t standGetDeviceCount(int* count);
standError_t standGetDevice(int* device);
standError_t standSetDevice(int device);
standError_t standGetDeviceProperties(standDeviceProp* properties, int device);
standError_t standDeviceGetAttribute(
    int* value,
    standDeviceAttr attribute,
    int device);
standError_t standDeviceSynchronize(void);
standError_t standDeviceReset(void);
standError_t standDeviceCanAccessPeer(int* possible, int device, int peer);
standError_t standDeviceEnablePeerAccess(int peer, unsigned int flags);
/** Lower numbers are more urgent. */
standError_t standDeviceGetStreamPriorityRange(int* least, int* greatest);

/** @} @name Memory @{ */

standError_t standMalloc(void** address, size_t bytes);
standError_t standFree(void* address);
standError_t standMallocHost(void** address, size_t bytes);
standError_t standHostAlloc(void** address, size_t bytes, unsigned int flags);
standError_t standFreeHost(void* address);
standError_t standHostRegister(void* address, size_t bytes, unsigned int flags);
standError_t standHostUnregister(void* address);
standError_t standMemGetInfo(size_t* available, size_t* total);
standError_t standPointerGetAttributes(
    standPointerAttributes* attributes,
    const void* address);
standError_t standMemcpy(
    void* to,
    const void* from,
    size_t bytes,
    standMemcpyKind kind);
/** Waits where a part of it is memory of the host that is not pinned. */
standError_t standMemcpyAsync(
    void* to,
    const void* from,
    size_t bytes,
    standMemcpyKind kind,
    standStream_t stream);
standError_t standMemset(void* to, int value, size_t bytes);
standError_t standMemsetAsync(
    void* to,
    int value,
    size_t bytes,
    standStream_t stream);

/** @} @name Streams @{ */

standError_t standStreamCreate(standStream_t* stream);
standError_t standStreamCreateWithFlags(
    standStream_t* stream,
    unsigned int flags);
standError_t standStreamCreateWithPriority(
    standStream_t* stream,
    unsigned int flags,
    int priority);
standError_t standStreamDestroy(standStream_t stream);
standError_t standStreamQuery(standStream_t stream);
standError_t standStreamSynchronize(standStream_t stream);
standError_t standStreamWaitEvent(
    standStream_t stream,
    standEvent_t event,
    unsigned int flags);
standError_t standStreamGetPriority(standStream_t stream, int* priority);
standError_t standLaunchHostFunc(
    standStream_t stream,
    standHostFn_t function,
    void* data);

/** @} @name Events @{ */

standError_t standEventCreate(standEvent_t* event);
standError_t standEventCreateWithFlags(standEvent_t* event, unsigned int flags);
standError_t standEventDestroy(standEvent_t event);
standError_t standEventRecord(standEvent_t event, standStream_t stream);
standError_t standEventQuery(standEvent_t event);
standError_t standEventSynchronize(standEvent_t event);
standError_t standEventElapsedTime(
    float* milliseconds,
    standEvent_t start,
    standEvent_t end);

/** @} */

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* STAND_RUNTIME_API_H_ */

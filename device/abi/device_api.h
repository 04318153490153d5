/**
 * @file
 * The device ABI: what a device's library gives to the runtime above it
 * (runtime), which makes CUDA's API of it. Plain C99, with neither
 * torch nor CUDA in it.
 *
 * A device's library exports one function, accel_get_api (ACCEL_ENTRY_POINT),
 * which returns one struct of functions. A library that fills the required ones
 * trains; each group of optional functions has a capability bit.
 *
 * How it evolves (as PJRT's C API and Paddle's C_DeviceInterface do, from which
 * this is taken): the size of a struct is its first member, and members are
 * only ever added at its end. Who reads a struct reads no further than that
 * size, so libraries and runtimes of different age go together. What PJRT has
 * in each call (a struct of arguments with its size) is here where arguments
 * are many; what Paddle has (plain functions for the rest, capabilities that
 * may be missing) is taken as it is, but without its reserved slots: the size
 * says what is there. ACCEL_ABI_VERSION changes only when this rule is broken.
 *
 * Rules for all functions, unless they say otherwise:
 *  - Threads: any thread may call any function at any time. What concerns
 *    objects of one stream, event or module from several threads at once is in
 *    the order in which the library happens to take it.
 *  - Blocking: a function returns without waiting for work of the device.
 *  - Ownership: what is passed by pointer is the caller's and is read before
 *    the function returns; what a function makes is destroyed by the function
 *    of the same group, and by nothing else.
 *  - Arguments: no pointer is null unless a function says so. A number that no
 *    device has is answered with ACCEL_NO_DEVICE.
 *  - Errors: nothing is changed when a function fails. A status other than
 *    ACCEL_OK and ACCEL_NOT_READY comes with a text, see last_error. A fault of
 *    the device (ACCEL_IS_FAULT) stays: from then on work is dropped,
 * device_status and queries answer the fault, waits return at once with it,
 * callbacks are still called, those put in later as well, and what only frees
 * or destroys still works. Functions that put in other work answer ACCEL_OK or
 * the fault, memory_allocate the fault. Work of other devices does not wait for
 * what was dropped.
 *  - The process that has called initialize is the only one that calls
 *    anything: children of fork() do not.
 */
#ifndef ACCELERATOR_ABI_DEVICE_API_H_
#define ACCELERATOR_ABI_DEVICE_API_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Libraries of another version are refused. */
#define ACCEL_ABI_VERSION 1u

/** The name of the function of type accel_get_api_function. */
#define ACCEL_ENTRY_POINT "accel_get_api"

/** Whether a struct of that size, which its maker wrote, has a member. */
#define ACCEL_HAS_MEMBER(type, size, member) \
  ((size) >= offsetof(type, member) + sizeof(((type*)0)->member))

/* ---- Status ---- */

/** What functions answer. */
typedef enum accel_status {
  ACCEL_OK = 0, /**< it is done, or will be: errors of work come later */
  ACCEL_NOT_READY = 1, /**< no error: work is not done yet */
  ACCEL_INVALID_ARGUMENT = 2, /**< last_error says which */
  ACCEL_OUT_OF_MEMORY = 3, /**< the device's, or the host's */
  ACCEL_NOT_SUPPORTED = 4, /**< by this device */
  ACCEL_NO_DEVICE = 5, /**< there is no device of that number */
  ACCEL_NOT_FOUND = 6, /**< no kernel or variable of that name */
  ACCEL_INVALID_IMAGE = 7, /**< code that is damaged */
  ACCEL_INVALID_CODE = 8, /**< code that cannot be compiled */
  ACCEL_NO_IMAGE_FOR_DEVICE = 9, /**< code for another device */
  ACCEL_ALREADY = 10, /**< memory that is registered already, say */
  ACCEL_OTHER_ENDED = 11, /**< the process that a handle came from has ended */
  ACCEL_UNKNOWN = 99, /**< what no other status says */

  /* Faults of the device. */
  ACCEL_DEVICE_LOST = 100, /**< it does not answer any more */
  ACCEL_ILLEGAL_ADDRESS = 101, /**< an address that is nobody's */
  ACCEL_MISALIGNED_ADDRESS = 102, /**< no multiple of the size */
  ACCEL_ILLEGAL_INSTRUCTION = 103, /**< one that the device does not know */
  ACCEL_ASSERT = 104, /**< assert() in a kernel */
  ACCEL_LAUNCH_FAILURE = 105, /**< a kernel stopped itself, or any other way */
  ACCEL_LAUNCH_TIMEOUT = 106, /**< a kernel that took too long */
  ACCEL_STACK_OVERFLOW = 107, /**< of a thread of a kernel */
  ACCEL_UNSUPPORTED_CODE = 108 /**< met while a kernel ran */
} accel_status;

/** Whether a status is a fault of the device, which stays. */
#define ACCEL_IS_FAULT(status) ((status) >= 100)

/* ---- Objects ---- */

/** A queue of work of one device. */
typedef struct accel_stream_object* accel_stream;
/** A mark in streams. */
typedef struct accel_event_object* accel_event;
/** Code that is loaded on a device. */
typedef struct accel_module_object* accel_module;
/** A kernel of a module, and the module's. */
typedef struct accel_kernel_object* accel_kernel;
/** Memory without an address (ACCEL_CAP_VIRTUAL). */
typedef struct accel_physical_object* accel_physical;
/** A rank of a group that computes collectives together. */
typedef struct accel_communicator_object* accel_communicator;

/** Called once, on a thread of the library's, when all work in front of it in
 * its stream is done; what is behind it waits until it returns. It may wait for
 * other streams. It calls functions of the device only where
 * ACCEL_CAP_CALLS_IN_CALLBACKS is set, and never one that waits for its own
 * stream. */
typedef void (*accel_callback)(void* data);

/* ---- Capabilities ---- */

/** What a device can do beyond what is required; bits. Those from
 * ACCEL_CAP_TIMING on stand for groups of functions of #accel_api: all
 * functions of a group are there when one of the devices has its bit, and all
 * are null when none has. */
typedef enum accel_capability {
  /** The host reads and writes device memory at the device's addresses (in
   * order with streams, which is the caller's business). */
  ACCEL_CAP_HOST_VISIBLE = 1 << 0,
  /** Callbacks may call functions of the device. */
  ACCEL_CAP_CALLS_IN_CALLBACKS = 1 << 1,
  ACCEL_CAP_TIMING = 1 << 2,
  ACCEL_CAP_PINNED = 1 << 3,
  ACCEL_CAP_MANAGED = 1 << 4,
  ACCEL_CAP_STREAM_ORDERED = 1 << 5,
  ACCEL_CAP_PEER = 1 << 6,
  ACCEL_CAP_IPC = 1 << 7,
  ACCEL_CAP_VIRTUAL = 1 << 8,
  ACCEL_CAP_SUBMIT = 1 << 9,
  ACCEL_CAP_CODE = 1 << 10,
  ACCEL_CAP_COLLECTIVES = 1 << 11,
  ACCEL_CAP_TEXTURES = 1 << 12
} accel_capability;

/** Formats of code; bits in accel_properties::code_formats. */
typedef enum accel_code_format {
  ACCEL_CODE_PTX = 1 << 0, /**< text, with a NUL behind it */
  ACCEL_CODE_OWN = 1 << 1 /**< the device's own */
} accel_code_format;

/* ---- Structs of arguments and answers ---- */

/** Figures of a device. Zero where the device has no such thing; the runtime
 * then answers programs with a figure that lets them run. */
typedef struct accel_properties {
  size_t struct_size; /**< the caller's; what the library knows is filled */
  char name[256]; /**< "Fake device" */
  unsigned char uuid[16]; /**< unlike those of all other devices */
  uint64_t capabilities; /**< #accel_capability, of this device */
  uint64_t code_formats; /**< #accel_code_format */
  uint64_t total_memory; /**< bytes */
  /** The compute capability whose code it runs, or that it is to be taken for:
   * 8 and 0 for 8.0. */
  int32_t major;
  int32_t minor; /**< of the compute capability, see #major */
  int32_t multiprocessors; /**< how many */
  int32_t threads_per_multiprocessor; /**< at most, of all its blocks */
  int32_t threads_per_block; /**< at most */
  int32_t warp_size; /**< threads */
  int32_t registers_per_block; /**< of 32 bits, at most */
  int32_t registers_per_multiprocessor; /**< of 32 bits */
  uint64_t shared_per_block; /**< bytes */
  uint64_t
      shared_per_block_optin; /**< bytes, the most that a kernel can ask for */
  uint64_t shared_per_multiprocessor; /**< bytes */
  int32_t clock_khz; /**< of the multiprocessors */
  int32_t memory_clock_khz; /**< of the memory */
  int32_t memory_bus_bits; /**< width of the way to memory */
  int32_t l2_bytes; /**< size of the second cache */
  int32_t pci_domain; /**< where it is plugged in */
  int32_t pci_bus; /**< in the domain */
  int32_t pci_device; /**< on the bus */
  /** Whether work is done before the function that gives it returns: callbacks,
   * too, which then never wait for what a later call brings. */
  int32_t synchronous;
  int32_t persisting_l2_bytes; /**< of the second cache, for what is to stay */
  int32_t access_window_bytes; /**< the most memory that is to stay there */
  int32_t pcie_generation; /**< of the link to the host; 5 for PCIe 5.0 */
  int32_t pcie_lanes; /**< of that link */
} accel_properties;

/** A box of bytes; one row is the common case (height and depth are 1 then).
 * The pitches of one row, and the distances of one slice, are not looked at. */
typedef struct accel_copy {
  size_t struct_size; /**< the caller's */
  void* to; /**< first byte of the first row */
  const void* from; /**< the same, of what is read */
  uint64_t width; /**< bytes of a row, at least 1 */
  uint64_t height; /**< rows, at least 1 */
  uint64_t depth; /**< slices, at least 1 */
  uint64_t to_pitch; /**< bytes from row to row */
  uint64_t from_pitch; /**< the same, of what is read */
  uint64_t to_slice; /**< bytes from slice to slice */
  uint64_t from_slice; /**< the same, of what is read */
  int32_t to_device; /**< #ACCEL_HOST, or the device whose memory it is */
  int32_t from_device; /**< the same, of what is read */
} accel_copy;

/** In the place of a device's number: memory of the host. */
#define ACCEL_HOST (-1)

/** Elements of 1, 2 or 4 bytes set to the low bytes of a value. */
typedef struct accel_fill {
  size_t struct_size; /**< the caller's */
  void* to; /**< first element of the first row */
  uint32_t value; /**< whose low bytes each element gets */
  uint32_t element_size; /**< bytes; `to` and the pitches are multiples of it */
  uint64_t width; /**< elements of a row, at least 1 */
  uint64_t height; /**< rows, at least 1 */
  uint64_t depth; /**< slices, at least 1 */
  uint64_t pitch; /**< bytes from row to row */
  uint64_t slice; /**< bytes from slice to slice */
} accel_fill;

/** What work of a library of the runtime's reads on the host: rows of bytes,
 * and the same again for each slice. Rows of a triangle grow or shrink. */
typedef struct accel_read {
  size_t struct_size; /**< the caller's */
  const char* function; /**< whose work it is, for messages: "cublasSgemm" */
  const void* from; /**< first byte of the first row */
  uint64_t width; /**< bytes of the first row, at least 1 */
  uint64_t height; /**< rows, at least 1 */
  uint64_t depth; /**< slices, at least 1 */
  int64_t pitch; /**< bytes from row to row */
  int64_t growth; /**< bytes by which a row is longer than the one before */
  int64_t slice; /**< bytes from slice to slice */
} accel_read;

/** What names memory in another process of the machine. */
typedef struct accel_ipc_handle {
  unsigned char bytes[48]; /**< what they mean is the library's business */
} accel_ipc_handle;

/** Where a kernel's parameter lies. */
typedef struct accel_parameter {
  uint32_t offset; /**< in the packed parameters */
  uint32_t size; /**< bytes */
} accel_parameter;

/** What a kernel needs. */
typedef struct accel_kernel_properties {
  size_t struct_size; /**< the caller's */
  const accel_parameter*
      parameters; /**< the module's, as long as it is loaded */
  uint32_t parameter_count; /**< of #parameters */
  uint32_t parameter_bytes; /**< of the packed parameters, with padding */
  uint32_t registers; /**< a thread */
  uint32_t max_threads; /**< of a block */
  uint32_t required_threads[3]; /**< of a block in x, y and z; 0: any */
  uint64_t static_shared_bytes; /**< of shared memory, a block */
  uint64_t constant_bytes; /**< of constant memory */
  uint64_t local_bytes; /**< of memory of its own, a thread */
  uint32_t code_version; /**< 80 for code for 8.0 */
} accel_kernel_properties;

/** A variable of a module. */
typedef struct accel_variable {
  size_t struct_size; /**< the caller's */
  const char* name; /**< the module's, as long as it is loaded */
  void* address; /**< on the device */
  uint64_t bytes; /**< its size */
  int32_t constant; /**< whether kernels only read it */
} accel_variable;

/** Gives a variable of a module a home of the caller's, which stays the
 * caller's; null: the library gives it one, and takes it back with the module.
 * @param data accel_image::place_data.
 * @param name the variable's.
 * @param bytes its size.
 * @param alignment of its address, in bytes. */
typedef void* (*accel_place)(
    void* data,
    const char* name,
    uint64_t bytes,
    uint64_t alignment);

/** Code to be loaded. */
typedef struct accel_image {
  size_t struct_size; /**< the caller's */
  accel_code_format format; /**< of #code */
  const void* code; /**< looked at during module_load only */
  uint64_t bytes; /**< without the NUL behind text */
  const char* source_name; /**< for messages: a library, a file */
  /** Whether all of it is checked when it is loaded; if not, each kernel is
   * when it is first asked for. 2: the caller is an assembler, and wants
   * ACCEL_NOT_SUPPORTED for instructions that the device lacks, too, even where
   * they may never run. */
  int32_t check_all;
  /** Null. Libraries of this version may look for a function here, which no
   * runtime has given. */
  void* unused[2];
  accel_place place; /**< may be null */
  void* place_data; /**< handed to #place */
} accel_image;

/** A kernel's launch. */
typedef struct accel_launch {
  size_t struct_size; /**< the caller's */
  accel_kernel kernel; /**< of a module of the stream's device */
  uint32_t grid[3]; /**< blocks in x, y and z */
  uint32_t block[3]; /**< threads of a block */
  uint64_t shared_bytes; /**< of dynamic shared memory, a block */
  const void*
      parameters; /**< packed, accel_kernel_properties::parameter_bytes */
  int32_t cooperative; /**< all blocks run at the same time */
} accel_launch;

/** How a coordinate outside of a texture is read, as CUDA's modes of address.
 */
typedef enum accel_address_mode {
  ACCEL_ADDRESS_WRAP = 0, /**< again from the other side */
  ACCEL_ADDRESS_CLAMP = 1, /**< the element at the edge */
  ACCEL_ADDRESS_MIRROR = 2, /**< back and forth */
  ACCEL_ADDRESS_BORDER = 3 /**< accel_texture::border */
} accel_address_mode;

/** What a channel of a texture's elements is. */
typedef enum accel_channel_kind {
  ACCEL_CHANNEL_SIGNED = 0, /**< of 8, 16 or 32 bits */
  ACCEL_CHANNEL_UNSIGNED = 1, /**< the same */
  ACCEL_CHANNEL_FLOAT = 2 /**< of 16 or 32 bits */
} accel_channel_kind;

/** The memory of one level of a texture: rows of elements, slices of rows. */
typedef struct accel_texture_level {
  void* address; /**< of the first element, on the device */
  uint64_t width; /**< elements of a row, at least 1 */
  uint64_t height; /**< rows, at least 1 */
  uint64_t depth; /**< slices, layers, or six faces a layer, at least 1 */
  uint64_t pitch; /**< bytes from row to row */
  uint64_t slice; /**< bytes from slice to slice */
} accel_texture_level;

/** Memory that kernels read by coordinates (texture), or read and write by them
 * (surface), and how coordinates and elements are understood. Each member as
 * cudaTextureDesc and cudaResourceDesc have it. */
typedef struct accel_texture {
  size_t struct_size; /**< the caller's */
  /** The first level is the largest one. Looked at during texture_create only;
   * the memory stays the caller's, and may be freed before the texture is. */
  const accel_texture_level* levels;
  uint32_t level_count; /**< at least 1 */
  uint32_t dimensions; /**< coordinates of an element without layer: 1 to 3 */
  int32_t layered; /**< whether slices are layers that are not mixed */
  int32_t cubemap; /**< whether slices are the six faces of cubes */
  int32_t linear; /**< memory without rows: read by whole coordinates only */
  accel_channel_kind kind; /**< of each channel */
  uint32_t channel_bits; /**< of each channel: 8, 16 or 32 */
  uint32_t channels; /**< of an element: 1, 2 or 4 */
  accel_address_mode address_modes[3]; /**< of x, y and z */
  int32_t filtered; /**< whether neighbours in a level are mixed */
  int32_t levels_filtered; /**< whether neighbouring levels are mixed */
  int32_t normalized_coordinates; /**< whether an edge is 1, not its elements */
  /** Whether whole numbers of 8 and 16 bits are read as 0 or -1 to 1. */
  int32_t normalized_elements;
  int32_t srgb; /**< whether the first three channels are sRGB's */
  int32_t seamless_cubemap; /**< whether faces of a cube are mixed */
  uint32_t max_anisotropy; /**< may be ignored */
  float border[4]; /**< a channel each, for #ACCEL_ADDRESS_BORDER */
  float level_bias; /**< added to the level that a kernel asks for */
  float level_minimum; /**< the least level that is read */
  float level_maximum; /**< the greatest level that is read */
} accel_texture;

/** What a collective does, each as NCCL's function of that name. */
typedef enum accel_collective_kind {
  ACCEL_ALL_REDUCE = 0,
  ACCEL_BROADCAST = 1,
  ACCEL_REDUCE = 2,
  ACCEL_ALL_GATHER = 3,
  ACCEL_REDUCE_SCATTER = 4,
  ACCEL_SEND = 5,
  ACCEL_RECEIVE = 6
} accel_collective_kind;

/** How ACCEL_ALL_REDUCE, ACCEL_REDUCE and ACCEL_REDUCE_SCATTER combine. */
typedef enum accel_reduction {
  ACCEL_SUM = 0,
  ACCEL_PRODUCT = 1,
  ACCEL_MAXIMUM = 2,
  ACCEL_MINIMUM = 3,
  ACCEL_AVERAGE = 4
} accel_reduction;

/** Types of a collective's elements. */
typedef enum accel_type {
  ACCEL_INT8 = 0,
  ACCEL_UINT8 = 1,
  ACCEL_INT32 = 2,
  ACCEL_UINT32 = 3,
  ACCEL_INT64 = 4,
  ACCEL_UINT64 = 5,
  ACCEL_FLOAT16 = 6,
  ACCEL_FLOAT32 = 7,
  ACCEL_FLOAT64 = 8,
  ACCEL_BFLOAT16 = 9
} accel_type;

/** One operation of a group of collectives. */
typedef struct accel_collective {
  size_t struct_size; /**< the caller's */
  accel_collective_kind kind; /**< what it does */
  accel_type type; /**< of the elements */
  accel_reduction reduction; /**< for kinds that combine */
  const void* send; /**< may be the same as `receive` where NCCL allows it */
  void* receive; /**< where the result goes; ACCEL_SEND has none */
  uint64_t count; /**< elements, as NCCL counts them for this kind */
  int32_t peer; /**< root, or the other rank */
} accel_collective;

/* ---- The functions ---- */

/** The functions of a device's library. Members are in the order in which they
 * came; those of an optional group are all there or all null. */
typedef struct accel_api {
  size_t struct_size; /**< as the library was compiled */
  uint32_t abi_version; /**< #ACCEL_ABI_VERSION */
  /** The library's name for messages and for TORCH_CUDA_DEVICES: lower-case
   * letters, digits and underscores. */
  const char* name;

  /** @name Required
   * Every library has them.
   * @{ */

  /** The text of the calling thread's last error: the function, the device
   * where there is one, what was found, what is needed. Good until the thread's
   * next call; never null. */
  const char* (*last_error)(void);

  /** Called once, before all others. May wait.
   * @param options KEY=VALUE pairs with commas between them, or "".
   * ACCEL_INVALID_ARGUMENT for a key or value that is not known; it can be
   * called again then, as after any failure. */
  accel_status (*initialize)(const char* options);
  /** Called at most once, after all others: at the end of the process. Work
   * that is left is dropped; callbacks that have not begun are not called. May
   * wait for a callback or kernel that runs, seconds at most. */
  accel_status (*finalize)(void);

  /** How many devices there are; they are numbered from 0. */
  accel_status (*device_count)(int32_t* count);
  /** The figures of a device; struct_size says how many the caller knows. */
  accel_status (
      *device_properties)(int32_t device, accel_properties* properties);
  /** Waits for all work of the device's streams that was put in before the
   * call, those that were destroyed included. */
  accel_status (*device_synchronize)(int32_t device);
  /** The device's fault; ACCEL_OK while it has none. Called often: cheap. */
  accel_status (*device_status)(int32_t device);
  /** Waits, forgets the fault, and frees what memory_allocate gave, and
   * kernels' own allocations. Streams, events and modules stay.
   * ACCEL_DEVICE_LOST when it is lost for good. */
  accel_status (*device_reset)(int32_t device);

  /** Memory of the device, aligned to at least 256 bytes and to `alignment` (a
   * power of two, or 0). `bytes` is at least 1. Addresses allow arithmetic and
   * are unlike all other addresses of the process. May wait. */
  accel_status (*memory_allocate)(
      int32_t device,
      uint64_t bytes,
      uint64_t alignment,
      void** address);
  /** Frees at once: who calls it has seen to it that no work uses the memory.
   * ACCEL_INVALID_ARGUMENT for an address that memory_allocate did not give for
   * this device, or that was freed. */
  accel_status (*memory_free)(int32_t device, void* address);
  /** Bytes that could be allocated, and of all memory. */
  accel_status (*memory_info)(
      int32_t device,
      uint64_t* free_bytes,
      uint64_t* total_bytes);

  /** Copies, as work in a stream. Memory of the host is pinned, or left alone
   * by everybody until the work is done. Copies between devices are between
   * devices of this library; without ACCEL_CAP_PEER they go any way there is.
   * The stream is one of a device whose memory has a part in it, any for what
   * is the host's on both sides. What overlaps is copied in any order. */
  accel_status (*copy)(accel_stream stream, const accel_copy* copy);
  /** Fills, as work in a stream, under the rules of #copy. */
  accel_status (*fill)(accel_stream stream, const accel_fill* fill);

  /** Makes a stream: work in one is done in the order in which it was put in;
   * between two there is no order.
   * @param device whose work it takes.
   * @param priority lower numbers are more urgent; may be ignored.
   * @param stream receives it. */
  accel_status (
      *stream_create)(int32_t device, int32_t priority, accel_stream* stream);
  /** Lets go of a stream; work that is in it is still done. */
  accel_status (*stream_destroy)(accel_stream stream);
  /** ACCEL_OK when all work is done, ACCEL_NOT_READY, or the device's fault. */
  accel_status (*stream_query)(accel_stream stream);
  /** Waits until all work is done that was put in before the call. */
  accel_status (*stream_synchronize)(accel_stream stream);
  /** What comes next in the stream waits for the last record of the event, as
   * it is at the time of the call; for nothing when it was not recorded. The
   * event may be another device's of this library. */
  accel_status (*stream_wait_event)(accel_stream stream, accel_event event);
  /** Puts a call of the host's function into the stream. */
  accel_status (*stream_callback)(
      accel_stream stream,
      accel_callback callback,
      void* data);

  /** Makes an event, a mark in streams.
   * @param device in whose streams it is recorded.
   * @param timing whether event_elapsed will be asked.
   * @param event receives it. */
  accel_status (
      *event_create)(int32_t device, int32_t timing, accel_event* event);
  /** Lets go of an event; what waits for it still does. */
  accel_status (*event_destroy)(accel_event event);
  /** Marks what the stream has been given so far; an earlier record is
   * forgotten by everybody who has not begun to wait for it, which streams do
   * when stream_wait_event is called. ACCEL_INVALID_ARGUMENT for a stream of
   * another device than the event's. */
  accel_status (*event_record)(accel_event event, accel_stream stream);
  /** ACCEL_OK when the work before the last record is done, or there is none,
   * ACCEL_NOT_READY, or the fault of the event's device;
   * its stream has no other work then if it was given none behind the record.
   */
  accel_status (*event_query)(accel_event event);
  /** Waits for what event_query asks. */
  accel_status (*event_synchronize)(accel_event event);

  /** @} */

  /** @name Of no group
   * May be null each by itself.
   * @{ */

  /** Puts the device at fault, as its own work would: what the runtime does for
   * it has failed. The first fault stays. Without it the runtime gives the
   * device no more work.
   * @param device that is at fault.
   * @param fault one of the faults. */
  accel_status (*device_fail)(int32_t device, accel_status fault);

  /** @} */

  /** @name Of ACCEL_CAP_TIMING
   * Without it the runtime takes the host's time.
   * @{ */

  /** Milliseconds from one event's mark to the other's, both reached and made
   * with timing. */
  accel_status (
      *event_elapsed)(accel_event start, accel_event end, float* milliseconds);

  /** @} */

  /** @name Of ACCEL_CAP_PINNED
   * Without it the runtime takes ordinary memory.
   * @{ */

  /** Memory of the host that devices reach at its address, aligned to a page.
   */
  accel_status (*host_allocate)(uint64_t bytes, void** address);
  /** Frees what host_allocate gave. */
  accel_status (*host_free)(void* address);
  /** Lets devices reach memory that the program has. ACCEL_ALREADY where they
   * do. */
  accel_status (*host_register)(void* address, uint64_t bytes);
  /** Takes back what host_register did; the memory stays the program's. */
  accel_status (*host_unregister)(void* address);

  /** @} */

  /** @name Of ACCEL_CAP_MANAGED
   * Without it managed memory is pinned memory.
   * @{ */

  /** Memory that the host and all devices use at the same address. */
  accel_status (
      *managed_allocate)(int32_t device, uint64_t bytes, void** address);
  /** Frees what managed_allocate gave. */
  accel_status (*managed_free)(void* address);

  /** @} */

  /** @name Of ACCEL_CAP_STREAM_ORDERED
   * Without it the runtime's pools take from memory_allocate and free when the
   * stream gets there.
   * @{ */

  /** Memory that work behind it in the stream can use. */
  accel_status (*memory_allocate_async)(
      accel_stream stream,
      uint64_t bytes,
      void** address);
  /** Frees such memory when the work before it in the stream is done. */
  accel_status (*memory_free_async)(accel_stream stream, void* address);

  /** @} */

  /** @name Of ACCEL_CAP_PEER
   * Without it kernels use memory of their own device only.
   * @{ */

  /** Whether kernels of `from` can use memory of `to`; 0 or 1. */
  accel_status (*peer_possible)(int32_t from, int32_t to, int32_t* possible);
  /** Lets them, or no longer. Given twice is not an error. */
  accel_status (*peer_enable)(int32_t from, int32_t to, int32_t enabled);
  /** Lets the kernels of a device use one allocation of another, whatever
   * peer_enable says, or no longer. For the device that has it, 0 says that it
   * is not in use, as memory of a graph between runs: kernels that touch it may
   * fault then, until 1. */
  accel_status (*memory_share)(void* address, int32_t device, int32_t enabled);

  /** @} */

  /** @name Of ACCEL_CAP_IPC
   * Without it no memory is shared between processes.
   * @{ */

  /** Names memory that memory_allocate gave, by its first address. */
  accel_status (*ipc_export)(void* address, accel_ipc_handle* handle);
  /** Memory of another process, for a device of this one. ACCEL_OTHER_ENDED,
   * ACCEL_INVALID_ARGUMENT for what names nothing (any more): handles come from
   * anywhere.
   * @param device that is to use it.
   * @param handle what ipc_export gave there.
   * @param address receives where it lies in this process.
   * @param bytes receives its size. */
  accel_status (*ipc_import)(
      int32_t device,
      const accel_ipc_handle* handle,
      void** address,
      uint64_t* bytes);
  /** Lets go of what ipc_import gave; the other process's memory stays. */
  accel_status (*ipc_close)(void* address);

  /** @} */

  /** @name Of ACCEL_CAP_VIRTUAL
   * Addresses and memory apart from each other; sizes and offsets are multiples
   * of virtual_granularity. Without it the runtime answers that virtual memory
   * management is not supported, which torch's expandable segments ask for.
   * @{ */

  /** What sizes and offsets are multiples of. */
  accel_status (*virtual_granularity)(int32_t device, uint64_t* bytes);
  /** Addresses for all devices, with no memory behind them.
   * @param bytes how many.
   * @param alignment of the first one: a power of two, or 0.
   * @param wish an address or null, which need not be followed.
   * @param address receives the first one. */
  accel_status (*virtual_reserve)(
      uint64_t bytes,
      uint64_t alignment,
      void* wish,
      void** address);
  /** Gives back what virtual_reserve gave, as a whole. */
  accel_status (*virtual_release)(void* address, uint64_t bytes);
  /** Memory of a device, with no address. */
  accel_status (*physical_create)(
      int32_t device,
      uint64_t bytes,
      accel_physical* physical);
  /** Lets go; where it is mapped it stays. */
  accel_status (*physical_destroy)(accel_physical physical);
  /** A file descriptor, the caller's, that names it for other processes. */
  accel_status (*physical_export)(accel_physical physical, int32_t* file);
  /** Memory that another process's physical_export named.
   * @param device whose memory it is.
   * @param file stays the caller's.
   * @param physical receives it.
   * @param bytes receives its size. */
  accel_status (*physical_import)(
      int32_t device,
      int32_t file,
      accel_physical* physical,
      uint64_t* bytes);
  /** Puts memory behind addresses. Nobody may use it until virtual_access lets
   * a device. */
  accel_status (*virtual_map)(
      void* address,
      uint64_t bytes,
      uint64_t offset,
      accel_physical physical);
  /** Takes the memory from behind addresses. */
  accel_status (*virtual_unmap)(void* address, uint64_t bytes);
  /** Lets a device use what is mapped there, or no longer. */
  accel_status (*virtual_access)(
      void* address,
      uint64_t bytes,
      int32_t device,
      int32_t enabled);

  /** @} */

  /** @name Of ACCEL_CAP_SUBMIT
   * How a vendor's operators put their own work into a stream of the runtime,
   * which calls this now, or again and again when a graph that has captured it
   * is run. Without it the runtime calls the function with null in a callback
   * of the stream.
   * @{ */

  /** Calls `function` before it returns; what that puts into the library's
   * own stream is in order with the stream's other work.
   * @param stream that the work belongs to.
   * @param function gets the library's own stream; its status is the answer.
   * @param data the caller's until the function has been called. */
  accel_status (*stream_submit)(
      accel_stream stream,
      accel_status (*function)(void* native_stream, void* data),
      void* data);

  /** @} */

  /** @name Of ACCEL_CAP_CODE
   * Without it launches answer CUDA's error 209.
   * @{ */

  /** Loads code on a device. May wait for work that is in streams, as CUDA's
   * driver does. */
  accel_status (*module_load)(
      int32_t device,
      const accel_image* image,
      accel_module* module);
  /** Launches that are in streams are still done. */
  accel_status (*module_unload)(accel_module module);
  /** The kernel of that name, compiled if need be: may take long. The module's.
   */
  accel_status (*module_kernel)(
      accel_module module,
      const char* name,
      accel_kernel* kernel);
  /** The variable of that name; ACCEL_NOT_FOUND when there is none. */
  accel_status (*module_variable)(
      accel_module module,
      const char* name,
      accel_variable* variable);
  /** The variable of that number; ACCEL_NOT_FOUND behind the last one. */
  accel_status (*module_variable_at)(
      accel_module module,
      uint32_t index,
      accel_variable* variable);
  /** The name of the kernel of that number; ACCEL_NOT_FOUND behind the last
   * one. The module's. */
  accel_status (*module_kernel_name_at)(
      accel_module module,
      uint32_t index,
      const char** name);
  /** What a kernel needs; struct_size says how much the caller knows. */
  accel_status (*kernel_properties)(
      accel_kernel kernel,
      accel_kernel_properties* properties);
  /** Puts a kernel's launch into a stream. Sizes are within the figures of
   * device and kernel; the runtime has seen to it. */
  accel_status (*launch)(accel_stream stream, const accel_launch* launch);
  /** The size of the heap that kernels' malloc takes from. */
  accel_status (*heap_limit)(int32_t device, uint64_t* bytes);
  /** Sets that size, until a kernel has used the heap (ACCEL_INVALID_ARGUMENT
   * then). */
  accel_status (*set_heap_limit)(int32_t device, uint64_t bytes);

  /** @} */

  /** @name Of ACCEL_CAP_COLLECTIVES
   * Without it the runtime's NCCL copies and adds itself.
   * @{ */

  /** Joins a group; waits for all its ranks.
   * @param device the rank's.
   * @param id a name for the group that its ranks agree on.
   * @param rank this one's number, from 0.
   * @param ranks how many there are.
   * @param communicator receives the rank's part of the group. */
  accel_status (*communicator_create)(
      int32_t device,
      const unsigned char id[128],
      int32_t rank,
      int32_t ranks,
      accel_communicator* communicator);
  /** Leaves the group; ends what waits in it, too. */
  accel_status (*communicator_destroy)(accel_communicator communicator);
  /** An error that came up while work was done; ACCEL_OK without one. */
  accel_status (*communicator_status)(accel_communicator communicator);
  /** Puts the operations into the stream; they are one step, as in a group of
   * NCCL. */
  accel_status (*collective)(
      accel_communicator communicator,
      accel_stream stream,
      const accel_collective* operations,
      uint32_t count);

  /** @} */

  /** @name Of no group
   * May be null each by itself.
   * @{ */

  /** Told before the runtime's libraries read memory of a device on the host
   * (ACCEL_CAP_HOST_VISIBLE), as work of a stream: for devices that report
   * reads of memory that nobody has written. Called often: cheap where there is
   * nothing to look for.
   * @param device whose memory it is.
   * @param read what is read; it lies in memory that the device has given. */
  accel_status (*memory_read)(int32_t device, const accel_read* read);

  /** @} */

  /** @name Of ACCEL_CAP_TEXTURES
   * Without it programs can have CUDA's arrays but no texture and no surface
   * objects.
   * @{ */

  /** Makes what kernels get as a texture or surface object. ACCEL_NOT_SUPPORTED
   * for a texture that the device cannot read.
   * @param device whose memory the levels lie in.
   * @param texture how they are read.
   * @param handle receives a number that is not 0. */
  accel_status (*texture_create)(
      int32_t device,
      const accel_texture* texture,
      uint64_t* handle);
  /** Lets go of a texture that no work uses. */
  accel_status (*texture_destroy)(int32_t device, uint64_t handle);

  /** @} */
} accel_api;

/** Gives the struct, which stays as it is as long as the library is loaded;
 * null when the library cannot serve that version.
 * @param runtime_version #ACCEL_ABI_VERSION of who asks. */
typedef const accel_api* (*accel_get_api_function)(uint32_t runtime_version);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ACCELERATOR_ABI_DEVICE_API_H_ */

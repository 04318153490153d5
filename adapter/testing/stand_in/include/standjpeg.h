/**
 * @file
 * The stand-in's JPEG decoder: functions of nvJPEG's shape, under names that
 * begin with "standjpeg", as far as a program of the adapter's tests uses them.
 * For C and C++. Source of the shape: NVIDIA's nvJPEG documentation.
 */
#ifndef STANDJPEG_H_
#define STANDJPEG_H_

#include <stddef.h>

#include "stand_runtime_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What functions answer; numbers as nvJPEG has them. */
typedef enum {
  STANDJPEG_STATUS_SUCCESS = 0,
  STANDJPEG_STATUS_BAD_JPEG = 3,
  STANDJPEG_STATUS_JPEG_NOT_SUPPORTED = 4,
  STANDJPEG_STATUS_EXECUTION_FAILED = 6,
  STANDJPEG_STATUS_INCOMPLETE_BITSTREAM = 10 /**< no end of the image */
} standjpegStatus_t;

/** How much less of the colours is stored than of the brightness. */
typedef enum {
  STANDJPEG_CSS_444 = 0,
  STANDJPEG_CSS_GRAY = 6
} standjpegChromaSubsampling_t;

/** One plane for each channel, or all in the first plane. */
typedef enum {
  STANDJPEG_OUTPUT_RGB = 3,
  STANDJPEG_OUTPUT_BGRI = 6
} standjpegOutputFormat_t;

#define STANDJPEG_MAX_COMPONENT 4

/** Where an image goes: planes on the device, and bytes from row to row. */
typedef struct {
  unsigned char* channel[STANDJPEG_MAX_COMPONENT];
  size_t pitch[STANDJPEG_MAX_COMPONENT];
} standjpegImage_t;

typedef struct standjpegHandle* standjpegHandle_t;
typedef struct standjpegJpegState* standjpegJpegState_t;

standjpegStatus_t standjpegCreateSimple(standjpegHandle_t* handle);
standjpegStatus_t standjpegDestroy(standjpegHandle_t handle);

standjpegStatus_t standjpegJpegStateCreate(
    standjpegHandle_t handle,
    standjpegJpegState_t* state);
standjpegStatus_t standjpegJpegStateDestroy(standjpegJpegState_t state);

/**
 * Reads an image's head.
 * @param widths of the components, in pixels; `heights` too.
 */
standjpegStatus_t standjpegGetImageInfo(
    standjpegHandle_t handle,
    const unsigned char* data,
    size_t length,
    int* components,
    standjpegChromaSubsampling_t* subsampling,
    int* widths,
    int* heights);

/**
 * Decodes an image in the stream's order.
 * @param data in memory of the host; may be freed when the function returns.
 */
standjpegStatus_t standjpegDecode(
    standjpegHandle_t handle,
    standjpegJpegState_t state,
    const unsigned char* data,
    size_t length,
    standjpegOutputFormat_t format,
    standjpegImage_t* destination,
    standStream_t stream);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* STANDJPEG_H_ */

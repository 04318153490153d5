"""Images decoded by nvJPEG into tensors on the device."""

import ctypes
import os
import pathlib
import struct
import tempfile

import torch
from torch.utils.cpp_extension import load

SOURCE = """
    #include <cuda_runtime.h>
    #include <nvjpeg.h>

    struct Decoder {
      nvjpegHandle_t handle = nullptr;
      nvjpegJpegState_t state = nullptr;
      nvjpegStatus_t status = nvjpegCreateSimple(&handle);
      Decoder() {
        if (status == NVJPEG_STATUS_SUCCESS) status = nvjpegJpegStateCreate(handle, &state);
      }
      ~Decoder() {
        nvjpegJpegStateDestroy(state);
        nvjpegDestroy(handle);
      }
    };

    static Decoder& decoder() {
      static Decoder one;
      return one;
    }

    extern "C" int size(const unsigned char* file, size_t length, int* channels, int* width, int* height) {
      nvjpegChromaSubsampling_t subsampling;
      int widths[NVJPEG_MAX_COMPONENT], heights[NVJPEG_MAX_COMPONENT];
      if (decoder().status != NVJPEG_STATUS_SUCCESS) return decoder().status;
      const nvjpegStatus_t status = nvjpegGetImageInfo(
          decoder().handle, file, length, channels, &subsampling, widths, heights);
      if (status != NVJPEG_STATUS_SUCCESS) return status;
      if ((*channels == 1) != (subsampling == NVJPEG_CSS_GRAY)) return -1;
      *width = widths[0];
      *height = heights[0];
      return NVJPEG_STATUS_SUCCESS;
    }

    // Into a plane for each colour, or blue, green and red beside each other.
    extern "C" int decode(
        const unsigned char* file, size_t length, unsigned char* out, int width, int height, int planes,
        cudaStream_t stream) {
      nvjpegImage_t image = {};
      for (int c = 0; c < (planes ? 3 : 1); ++c) {
        image.channel[c] = out + (size_t)c * height * width;
        image.pitch[c] = planes ? width : 3 * width;
      }
      return nvjpegDecode(
          decoder().handle, decoder().state, file, length, planes ? NVJPEG_OUTPUT_RGB : NVJPEG_OUTPUT_BGRI,
          &image, stream);
    }
"""

folder = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
source = pathlib.Path(folder, "decode.cu")
source.write_text(SOURCE)
library = ctypes.CDLL(
    load(
        "nvjpeg_decoder",
        [str(source)],
        extra_ldflags=["-lnvjpeg"],
        build_directory=folder,
        is_python_module=False,
    )
    or next(map(str, pathlib.Path(folder).glob("nvjpeg_decoder*.so")))
)


def decoded(file: bytes, planes: bool) -> torch.Tensor:
    """The image of a file as a tensor on the device, in the current stream."""
    channels, width, height = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    length = ctypes.c_size_t(len(file))
    status = library.size(
        file, length, ctypes.byref(channels), ctypes.byref(width), ctypes.byref(height)
    )
    if status:
        raise RuntimeError(f"no head: {status}")
    shape = (3, height.value, width.value) if planes else (height.value, width.value, 3)
    out = torch.empty(shape, dtype=torch.uint8, device="cuda")
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    place = ctypes.c_void_p(out.data_ptr())
    status = library.decode(file, length, place, width, height, int(planes), stream)
    if status:
        raise RuntimeError(f"not decoded: {status}")
    return out


def segment(marker: int, content: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, len(content) + 2) + content


def image_of(blocks: list[list[tuple[int, ...]]]) -> bytes:
    """A baseline JPEG of blocks of 8 * 8 pixels, each of one colour: Y, Cb and Cr, or Y alone."""
    count = len(blocks[0][0])
    bits, last = "", [128] * count
    for colour in (colour for row in blocks for colour in row):
        for i, value in enumerate(colour):
            step, last[i] = value - last[i], value
            size = abs(step).bit_length()
            bits += f"{size:04b}"
            bits += f"{step if step > 0 else step + 2**size - 1:0{size}b}" if size else ""
            bits += "0"
    bits += "1" * (-len(bits) % 8)
    scan = int(bits, 2).to_bytes(len(bits) // 8, "big").replace(b"\xff", b"\xff\0")
    components = b"".join(bytes([i + 1, 0x11, 0]) for i in range(count))
    return b"".join(
        [
            b"\xff\xd8",
            segment(0xDB, b"\0" + bytes([8] + [1] * 63)),
            segment(
                0xC0,
                struct.pack(">BHHB", 8, 8 * len(blocks), 8 * len(blocks[0]), count) + components,
            ),
            segment(0xC4, b"\0" + bytes([0, 0, 0, 12] + [0] * 12) + bytes(range(12))),
            segment(0xC4, b"\x10" + bytes([1] + [0] * 15) + b"\0"),
            segment(
                0xDA,
                bytes([count]) + b"".join(bytes([i + 1, 0]) for i in range(count)) + b"\0\x3f\0",
            ),
            scan,
            b"\xff\xd9",
        ]
    )


picture = image_of([[(76, 85, 255), (150, 44, 21)], [(29, 255, 107), (200, 128, 128)]])
expected = torch.tensor([[[254, 0, 0], [0, 255, 1]], [[0, 0, 254], [200, 200, 200]]])
expected = expected.repeat_interleave(8, 0).repeat_interleave(8, 1)
with torch.cuda.stream(torch.cuda.Stream()):
    image = decoded(picture, planes=True)
    assert image.is_cuda and image.shape == (3, 16, 16)
    brighter = image.float() + 1
torch.cuda.synchronize()
torch.testing.assert_close(image.permute(1, 2, 0).cpu().long(), expected, atol=2, rtol=0)
torch.testing.assert_close(brighter.cpu(), image.cpu().float() + 1)
torch.testing.assert_close(
    decoded(picture, planes=False).cpu().long().flip(2), expected, atol=2, rtol=0
)
gray = decoded(image_of([[(10,), (250,)]]), planes=True)
assert gray[:, 0, ::8].cpu().tolist() == [[10, 250]] * 3
for file, words in (
    (b"no image", "no head: 3"),
    (picture[:40], "no head: 10"),
    (picture[:-20], "not decoded: 10"),
):
    try:
        decoded(file, planes=True)
    except RuntimeError as error:
        assert str(error) == words, error
    else:
        raise AssertionError("it decoded what is no image")

"""Which PyTorch this project builds, and the pins of the places it can come from."""

VERSION = "2.6.0"

RELEASE_TARBALL = struct(
    url = "https://github.com/pytorch/pytorch/releases/download/v2.6.0/pytorch-v2.6.0.tar.gz",
    sha256 = "3005690eb7b083c443a38c7657938af63902f524ad87a6c83f1aca38c77e3b57",
    prefix = "pytorch-v2.6.0",
)

DEBIAN_SOURCE = struct(
    package = "pytorch",
    version = "2.6.0+dfsg-7",
    filename = "pytorch_2.6.0+dfsg.orig.tar.xz",
    sha256 = "099a9601bc40d67656e75735c44abedb0fbe92d08817852ab7472eebb7e6ddff",
    prefix = "pytorch-v2.6.0",
)

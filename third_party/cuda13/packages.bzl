"""NVIDIA's packages whose headers are taken, of the CUDA that torch 2.15 is built with."""

# Requirement: SHA-256 of the RECORD of its wheel for Linux on x86-64.
PACKAGES = {
    "nvidia-cublas==13.4.1.3": "4a1c911d1e64243ca7ea273f781152fa181fea67a63cecfa8c87d6f6bf0647b6",
    "nvidia-cuda-crt==13.2.86": "f4bb4a7f34036040fca57cef1a596d6572aef4240cb94d2431ee1f066f3445d9",
    "nvidia-cuda-cupti==13.2.86": "cd99245acf7d27d04935a234596724b75d80ccc69c36670b8631056ddb69f449",
    "nvidia-cuda-nvrtc==13.2.86": "2331398d7515cc49916a8cad48d88c95ec19c4930fc36b81ebf833c008293681",
    "nvidia-cuda-runtime==13.2.86": "795d5f0a013142013ec11b688f2e840b8226ca058c05a1fcc2c8fc8c58c13eac",
    "nvidia-cufft==12.2.0.57": "46b2c5945759f0ca2feac480bcf87a92fc9a0931f64fa37fb71a3aca26d0bcc2",
    "nvidia-cusolver==12.2.0.11": "918065d805813c368046d126337d24cf0492beecd325c2d67a17424090faa458",
    "nvidia-cusparse==12.7.10.12": "99f323dfef156ea64c44855b18a7c1597cbf6f44cc22658f480db81b53328fd8",
    "nvidia-nvjitlink==13.2.86": "e072b63c57ccc0edc4cf86ce3e3b1230e73f53979c0415a73013e0e0ee935b49",
}

# NVIDIA's newest programs and libraries that need no GPU, which tests hold their substitutes against: what is taken of
# a wheel, and the folder that it goes to.
TOOLS = {
    "nvidia-cuda-cuobjdump==13.5.37": struct(
        sha256 = "aa6ae662d99e2160ef11b36c7bf5e69c0e05331d69e7693e625ce458d12904c3",
        prefix = "nvidia/cu13",
        include = ["bin/cuobjdump"],
        output = ".",
    ),
    "nvidia-cuda-nvcc==13.5.37": struct(
        sha256 = "76c185cf886aba2231c5d8e844792bcb00f51a83d9944a791dc60bae4cad1ce7",
        prefix = "nvidia/cu13",
        include = ["bin/fatbinary", "bin/ptxas"],
        output = ".",
    ),
    "nvidia-cuda-nvrtc==13.5.37": struct(
        sha256 = "205cdf5c56c550eb1917b4c7535cf04b9c7431e7f52b9260b8356b473ae0082d",
        prefix = "nvidia/cu13",
        include = ["lib/libnvrtc*.so.13*"],
        output = ".",
    ),
    "nvidia-nvjitlink==13.5.37": struct(
        sha256 = "02782ebc40faedac97d4fd2b02b013120fb4dd7f1093b72f25eab805393bfcd7",
        prefix = "nvidia/cu13",
        include = ["lib/libnvJitLink.so.13"],
        output = ".",
    ),
    # Of the CUDA 12 that torch 2.9 is installed with.
    "nvidia-nvjitlink-cu12==12.8.93": struct(
        sha256 = "63ed5dea679139e01b9f8e56f0897d5d98e6158cb4624862935cd3bd84620918",
        prefix = "nvidia/nvjitlink",
        include = ["lib/libnvJitLink.so.12"],
        output = "cu12",
    ),
}

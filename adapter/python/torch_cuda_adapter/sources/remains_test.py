"""Nothing of CUDA's is lost in silence: each name is translated, or there is a finding where it stands."""

from __future__ import annotations

from absl.testing import absltest, parameterized

from torch_cuda_adapter import platforms
from torch_cuda_adapter.sources import testing
from torch_cuda_adapter.sources.rules import Rules
from torch_cuda_adapter.sources.translator import Translation, translate

PLATFORMS = {name: Rules(platforms.load(name)) for name in platforms.names()}
# A program, and what of it names CUDA.
NAMES = (
    ("auto k = torch::DispatchKey::CUDA;", "CUDA"),
    ("auto k = at::DispatchKey::CUDA;", "CUDA"),
    ("auto k = c10::DispatchKey::AutogradCUDA;", "AutogradCUDA"),
    ("auto k = c10::DispatchKey::SparseCsrCUDA;", "SparseCsrCUDA"),
    ("auto k = c10 :: DispatchKey /* of */ :: CUDA;", "CUDA"),
    ("auto k = ::c10::DispatchKey::CUDA;", "CUDA"),
    ("auto k = c10::DispatchKey::\\\nCUDA;", "CUDA"),
    ("auto k = DispatchKey::NestedTensorCUDA;", "NestedTensorCUDA"),
    ("auto k = c10::DispatchKey::FutureCUDA;", "FutureCUDA"),
    ("using K = c10::DispatchKey; auto k = K::CUDA;", "CUDA"),
    ("using enum c10::DispatchKey; f(CUDA);", "CUDA"),
    ("using c10::DispatchKey::CUDA;", "CUDA"),
    ("c10::DispatchKeySet s(c10::DispatchKey::CUDA);", "CUDA"),
    ("switch (k) { case c10::DeviceType::CUDA: break; }", "CUDA"),
    ("auto b = c10::Backend::CUDA;", "CUDA"),
    ("auto b = at::Backend::QuantizedCUDA;", "QuantizedCUDA"),
    ("auto b = c10::BackendComponent::CUDABit;", "CUDABit"),
    ("auto t = at::Device::Type::CUDA;", "CUDA"),
    ("auto t = torch::kCUDA;", "kCUDA"),
    ("f(at::kCUDA, c10::kCPU);", "kCUDA"),
    ("#define DEVICE DeviceType::CUDA\n", "CUDA"),
    ("#define KEY(x) c10::DispatchKey::x\nKEY(CUDA);", "CUDA"),
    ("y = x.cuda();", "cuda"),
    ("y = x->cuda();", "cuda"),
    ("y = x . \n cuda ( );", "cuda"),
    ("b = x.is_cuda();", "is_cuda"),
    ("auto f = &at::Tensor::is_cuda;", "is_cuda"),
    ("at::globalContext().lazyInitCUDA();", "lazyInitCUDA"),
    ("lazyInitCUDA();", "lazyInitCUDA"),
    ("if (at::hasCUDA()) {}", "hasCUDA"),
    ("if (at::globalContext().hasCUDA()) {}", "hasCUDA"),
    ("at::globalContext().setBenchmarkCuDNN(true);", "setBenchmarkCuDNN"),
    ("at::globalContext().allowTF32CuBLAS();", "allowTF32CuBLAS"),
    ("g->philox_cuda_state(4);", "philox_cuda_state"),
    ("at::cudnn_convolution(x);", "cudnn_convolution"),
    ("at::native::batch_norm_cuda(x);", "batch_norm_cuda"),
    ("THCudaCheck(e);", "THCudaCheck"),
    ("THCState* state;", "THCState"),
    ("return ::cuda::f();", "cuda"),
    ("return ::at::cuda::warp_size();", "cuda"),
    ("if (a) throw ::c10::DispatchKey::CUDA;", "CUDA"),
    ("void f(const ::c10::cuda::CUDAStream& s);", "CUDAStream"),
    ("TORCH_LIBRARY_IMPL(x, CUDA, m) {}", "CUDA"),
    ("TORCH_LIBRARY_IMPL(x, AutocastCUDA, m) {}", "AutocastCUDA"),
    ("LIBRARY_IMPL(x, CUDA, m) {}", "CUDA"),
    ("using at::cuda::CUDAStream;", "CUDAStream"),
    ("namespace ac = at::cuda; ac::CUDAEvent e;", "CUDAEvent"),
    ("namespace ac = at::cuda;", "cuda"),
    ("using namespace c10::cuda;", "cuda"),
    ("using namespace at; cuda::getCurrentCUDAStream();", "cuda"),
    ("using namespace at; using namespace cuda;", "cuda"),
    ("namespace at { namespace cuda { void f(); } }", "cuda"),
    ("namespace c10::cuda { void f(); }", "cuda"),
    ("at::/* of */cuda::f();", "cuda"),
    ("pool.cudaMalloc(p, n);", "cudaMalloc"),
    ("mine::cudaMalloc(p, n);", "cudaMalloc"),
    ("auto f = &cudaMalloc;", "cudaMalloc"),
    ("F(cudaMalloc, p, n);", "cudaMalloc"),
    ("#define cudaMalloc(p, n) mine(p, n)\n", "cudaMalloc"),
    ("#undef cudaMalloc\n", "cudaMalloc"),
    ("#ifdef cudaMalloc\n#endif\n", "cudaMalloc"),
    ("#if 0\ncudaFree(p);\n#endif\n", "cudaFree"),
    ("extern const char* cudaGetErrorString(cudaError_t);", "cudaError_t"),
    ("extern const char* cudaGetErrorString(cudaError_t);", "cudaGetErrorString"),
    ("f(cudaGetErrorString(cudaErrorUnknown));", "cudaErrorUnknown"),
    ("cudaStreamWaitEvent(s, e, cudaEventWaitDefault);", "cudaEventWaitDefault"),
    ("CUdeviceptr p;", "CUdeviceptr"),
    ("cuInit(0);", "cuInit"),
    ("cublasHandle_t h;", "cublasHandle_t"),
    ("ncclSend(p, n, t, r, c, s);", "ncclSend"),
    ("pncclSend(p, n, t, r, c, s);", "pncclSend"),
    ("make_cudaExtent(1, 2, 3);", "make_cudaExtent"),
    ("char b[CUDA_IPC_HANDLE_SIZE];", "CUDA_IPC_HANDLE_SIZE"),
    ("cud\\\naFree(p);", "cudaFree"),
    ("#define JOINED cud##aFree\n", "cud"),
    ("#define JOINED cu ## da ## Free\n", "cu"),
    ("#define HEADER <cuda_runtime.h>\n", "<"),
    ('#define HEADER "cuda_runtime.h"\n', '"cuda_runtime.h"'),
    ("import <cuda_runtime.h>;", "<"),
    ("#ifdef __DRIVER_TYPES_H__\n#endif\n", "__DRIVER_TYPES_H__"),
    ("#include <torch/cuda.h>\n", "<torch/cuda.h>"),
    ("#include <nv/target>\n", "<nv/target>"),
    ("cutensorCreate(&h);", "cutensorCreate"),
    ("NVTX3_FUNC_RANGE();", "NVTX3_FUNC_RANGE"),
    ('getenv("CUDA_LAUNCH_BLOCKING");', '"CUDA_LAUNCH_BLOCKING"'),
    ('torch::Device d("cuda");', '"cuda"'),
    ('torch::Device d("cuda:0");', '"cuda:0"'),
    ('auto d = c10::Device(u8"cuda:" + n);', 'u8"cuda:"'),
    ('torch::Device d("cu" /* and */ "da" ":1");', '"cu"'),
    ('x.to(R"(cuda)");', 'R"(cuda)"'),
    ('if (d.str() == "cuda") {}', '"cuda"'),
    ('m.impl("x", "CUDA", f);', '"CUDA"'),
    ('c10::parseDispatchKey("AutogradCUDA");', '"AutogradCUDA"'),
    ('compile(R"(def f(x): return x.to("cuda"))");', 'R"(def f(x): return x.to("cuda"))"'),
    ('dlopen("libcudart.so.12", 1);', '"libcudart.so.12"'),
    ('dlsym(h, "cudaMalloc");', '"cudaMalloc"'),
)
ROW_7 = (
    'm.impl("x", torch::dispatch(at::DispatchKey::CUDA, f)); if (at::hasCUDA())',
    "torch::DispatchKey::CUDA",
    "c10::DispatchKey::AutogradCUDA",
    "c10::Backend::CUDA",
    "at::Device::Type::CUDA",
    "x.cuda()",
    "lazyInitCUDA()",
)


class NamesTest(parameterized.TestCase):
    @parameterized.product(platform=sorted(PLATFORMS), case=NAMES)
    def test_translated_or_reported(self, platform: str, case: tuple[str, str]) -> None:
        source, name = case
        translation = translate(source, PLATFORMS[platform])
        offset = next(t.offset for t in testing.code(source) if t.spelling == name)
        last = max(t.offset for t in testing.code(source) if t.spelling == name)
        places = testing.reported(translation, source)
        if not {offset, last} & places and not _covered(translation, source, name):
            self.assertNotIn(name, testing.words(translation.text))
            self.assertNotEqual(translation.text, source)

    @parameterized.product(platform=sorted(PLATFORMS), source=ROW_7)
    def test_row_7(self, platform: str, source: str) -> None:
        translation = translate(source, PLATFORMS[platform])
        left = [word for word in testing.words(translation.text) if "cuda" in word.lower()]
        self.assertSameElements(left, [finding.name for finding in translation.findings])
        self.assertEqual(all(f.is_open for f in translation.findings), True)

    @parameterized.parameters(*sorted(PLATFORMS))
    def test_row_6(self, platform: str) -> None:
        source = "puts(cudaGetErrorString(cudaDeviceSynchronize()));"
        translation = translate(source, PLATFORMS[platform])
        synchronize = translate("cudaDeviceSynchronize()", PLATFORMS[platform]).text
        self.assertNotEqual(synchronize, "cudaDeviceSynchronize()")
        self.assertEqual(testing.times(translation.text, synchronize), 1)
        self.assertEmpty(translation.findings)

    @parameterized.product(
        platform=("npu", "mlu"),
        source=("using namespace thrust;", "namespace cg = cooperative_groups;"),
    )
    def test_namespaces_that_a_platform_has_not(self, platform: str, source: str) -> None:
        translation = translate(source, PLATFORMS[platform])
        self.assertEqual(translation.text, source)
        self.assertLen(translation.findings, 1)

    @parameterized.parameters(
        ('dlsym(h, "cudaMalloc");', True),
        ('log("cudaMalloc");', False),
        ('torch::Device("cuda");', True),
        ('dlopen("libcuda.so.1", 2);', True),
    )
    def test_whether_somebody_has_to_act_on_a_text(self, source: str, is_open: bool) -> None:
        for rules in PLATFORMS.values():
            findings = translate(source, rules).findings
            self.assertEqual([finding.is_open for finding in findings], [is_open])

    def test_enumerators_of_pytorchs_are_translated(self) -> None:
        for rules in PLATFORMS.values():
            for name in ("c10::DispatchKey::Sparse{}", "at::Backend::{}", "at::Device::Type::{}"):
                translation = translate(name.format("CUDA"), rules)
                self.assertEqual(translation.text, name.format("PrivateUse1"))
                self.assertEmpty(translation.findings)

    @parameterized.parameters(
        '// x.cuda(); "cuda" at::DispatchKey::CUDA\n',
        "/* cudaMalloc hasCUDA() */",
        '#pragma message "cuda"\n',
        "#error needs CUDA\n",
        'TORCH_CHECK(x, "x must be a CUDA tensor on cuda:0");',
        'm.def("cuda(Tensor x) -> Tensor"); m.impl("cuda", f);',
        "CHECK_CUDA(x); scatter_cuda(x); use_cuda = true; my_cuda::f(); mine::cuda::f();",
        "namespace mine { namespace cuda { void f(); } }",
        "Custom c; cube(x); cut = curl + cups; CUTOFF;",
        '#include "my_cuda.h"\n',
    )
    def test_what_is_none_of_cudas(self, source: str) -> None:
        for platform, rules in PLATFORMS.items():
            with self.subTest(platform):
                translation = translate(source, rules)
                self.assertEqual(translation.text, source)
                self.assertEmpty(translation.findings)


def _covered(translation: Translation, source: str, name: str) -> bool:
    """Whether a finding's own name has several tokens, and ends with this one."""
    return any(name in testing.words(finding.name)[1:] for finding in translation.findings)


if __name__ == "__main__":
    absltest.main()

"""What is read of NVIDIA's headers and of a release's package."""

from __future__ import annotations

from absl.testing import absltest

from runtime.names import update

HEADER = """\
#define cuMemAlloc cuMemAlloc_v2
#define cuMemcpyHtoD __CUDA_API_PTDS(cuMemcpyHtoD_v2)
#define cuStreamQuery __CUDA_API_PTSZ(cuStreamQuery)
#define CU_SOMETHING 4
/* CUresult CUDAAPI cuInComment(int); */
CUresult CUDAAPI cuInit(unsigned int Flags);
CUresult CUDAAPI cuMemAlloc(CUdeviceptr *dptr, size_t bytesize); // cuAlso
const DECLDIR char* nvmlErrorString(nvmlReturn_t result);
nvmlReturn_t DECLDIR nvmlInit_v2(void);
"""
TYPEDEFS = """\
typedef CUresult (CUDAAPI *PFN_cuMemAlloc_v3020)(CUdeviceptr_v2 *dptr, size_t bytesize);
typedef CUresult (CUDAAPI *PFN_cuMemcpyHtoD_v7000_ptds)(CUdeviceptr_v2 dstDevice);
#if defined(__CUDA_API_VERSION_INTERNAL)
    typedef CUresult (CUDAAPI *PFN_cuMemAlloc_v2000)(CUdeviceptr_v1 *dptr, unsigned int bytesize);
#endif
typedef CUresult (CUDAAPI *PFN_cuInit_v2000)(unsigned int Flags);
"""
METADATA = """\
Name: cuda-toolkit
Requires-Dist: nvidia-cublas==13.10.0.20.*; (platform_machine == 'x86_64') and extra == 'all'
Requires-Dist: nvidia-cudla==13.5.25.*; (platform_machine == 'aarch64') and extra == 'all'
Requires-Dist: nvidia-nvjitlink<14,>=13.5.37; (platform_machine == 'x86_64') and extra == 'all'
"""


class UpdateTest(absltest.TestCase):
    def test_names_are_those_that_programs_link_with(self) -> None:
        self.assertEqual(
            update.declared(HEADER),
            {
                "cuInit",
                "cuMemAlloc",
                "cuMemAlloc_v2",
                "cuMemcpyHtoD_v2",
                "cuMemcpyHtoD_v2_ptds",
                "cuStreamQuery",
                "cuStreamQuery_ptsz",
                "nvmlErrorString",
                "nvmlInit_v2",
            },
        )

    def test_forms_have_the_versions_that_brought_them(self) -> None:
        self.assertEqual(update.versions(TYPEDEFS), {"cuInit": [2000], "cuMemAlloc": [2000, 3020]})

    def test_a_name_that_one_major_has_is_followed_by_it(self) -> None:
        lines = update.marked({12: {"cuOld", "cuA", "cuB"}, 13: {"cuA", "cuB", "cuBNew"}})
        self.assertEqual(lines, ["cuA", "cuB", "cuBNew 13", "cuOld 12"])

    def test_a_release_names_versions(self) -> None:
        self.assertEqual(
            update.pins_of(METADATA), {"nvidia-cublas": "13.10.0.20", "nvidia-nvjitlink": "13.5.37"}
        )


if __name__ == "__main__":
    absltest.main()

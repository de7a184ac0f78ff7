//===- cuda-libraries-test.cpp - the search for libraries -----------------===//
//
// The folders in which CUDA's libraries are searched for, their order, and the
// message if there is none.
//
//===----------------------------------------------------------------------===//
#include "TestFiles.h"
#include "runtime/cuda/Libraries.h"
#include "llvm/ADT/STLExtras.h"
#include <dlfcn.h>

using namespace mp;
using namespace mp::cuda;
using namespace mp::test;

namespace {

/// Sets or (with null) unsets a variable for as long as it lives.
class Environment {
public:
  Environment(const char *name, const char *value) : name(name) {
    if (const char *old = getenv(name))
      before = old;
    if (value)
      setenv(name, value, 1);
    else
      unsetenv(name);
  }
  ~Environment() {
    if (before)
      setenv(name, before->c_str(), 1);
    else
      unsetenv(name);
  }
  Environment(const Environment &) = delete;

private:
  const char *name;
  std::optional<std::string> before;
};

class CudaLibraries : public testing::Test {
protected:
  /// An empty file in a folder that is made; returns its path.
  std::string plant(const std::string &parent, const std::string &name) {
    llvm::cantFail(llvm::errorCodeToError(
        llvm::sys::fs::create_directories(folder.path(parent))));
    return folder.write(parent + "/" + name, "");
  }
  /// Position of a path among the candidates for NVRTC.
  static size_t position(const std::string &path) {
    std::vector<std::string> all = candidates(kNvrtcLibrary);
    return llvm::find(all, path) - all.begin();
  }

  TestFolder folder;
  Environment path{"MP_CUDA_PATH", nullptr}, home{"CUDA_HOME", nullptr},
      root{"CUDA_PATH", nullptr}, venv{"VIRTUAL_ENV", nullptr},
      conda{"CONDA_PREFIX", nullptr}, user{"HOME", nullptr};
};

TEST_F(CudaLibraries, ChosenFolderIsAskedAlone) {
  std::string direct = plant("chosen", "libnvrtc.so.12");
  std::string below = plant("chosen/lib64", "libnvrtc.so.13");
  plant("home/lib64", "libnvrtc.so.13");
  Environment chosen("MP_CUDA_PATH", folder.path("chosen").c_str());
  Environment home("CUDA_HOME", folder.path("home").c_str());
  EXPECT_EQ(candidates(kNvrtcLibrary),
            (std::vector<std::string>{direct, below}));
}

TEST_F(CudaLibraries, ChosenFolderWithoutTheLibraryIsPassedOver) {
  plant("chosen", "libnvrtc.so.12");
  Environment chosen("MP_CUDA_PATH", folder.path("chosen").c_str());
  std::vector<std::string> driver = candidates(kDriverLibrary);
  EXPECT_EQ(driver, std::vector<std::string>{"libcuda.so.1"});
}

TEST_F(CudaLibraries, OrderOfTheRest) {
  std::string toolkit = plant("home/lib64", "libnvrtc.so.12");
  std::string other = plant("path/lib64", "libnvrtc.so.13");
  std::string wheel =
      plant("venv/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib",
            "libnvrtc.so.12");
  std::string conda = plant("conda/lib/python3.9/site-packages/nvidia/cu13/lib",
                            "libnvrtc.so.13");
  Environment one("CUDA_HOME", folder.path("home").c_str());
  Environment two("CUDA_PATH", folder.path("path").c_str());
  Environment three("VIRTUAL_ENV", folder.path("venv").c_str());
  Environment four("CONDA_PREFIX", folder.path("conda").c_str());
  EXPECT_EQ(position(toolkit), 0u);
  EXPECT_EQ(position(other), 1u);
  EXPECT_EQ(position("libnvrtc.so.13"), 2u);
  EXPECT_EQ(position("libnvrtc.so.12"), 3u);
  EXPECT_GT(position(wheel), 4u);
  EXPECT_EQ(position(conda), position(wheel) + 1);
}

TEST_F(CudaLibraries, TheDriverIsNoPartOfAToolkit) {
  plant("home/lib64", "libcuda.so.1");
  Environment home("CUDA_HOME", folder.path("home").c_str());
  EXPECT_EQ(candidates(kDriverLibrary),
            std::vector<std::string>{"libcuda.so.1"});
}

TEST_F(CudaLibraries, CudnnIsFoundInItsWheel) {
  std::string wheel = plant(
      "venv/lib/python3.12/site-packages/nvidia/cudnn/lib", "libcudnn.so.9");
  Environment venv("VIRTUAL_ENV", folder.path("venv").c_str());
  std::vector<std::string> all = candidates(kCudnnLibrary);
  EXPECT_EQ(all.front(), "libcudnn.so.9");
  EXPECT_TRUE(llvm::is_contained(all, wheel));
}

TEST_F(CudaLibraries, SaysWhatIsBroken) {
  std::string broken = plant("chosen", "libcuda.so.1");
  Environment chosen("MP_CUDA_PATH", folder.path("chosen").c_str());
  llvm::Error error = openLibrary(kDriverLibrary).takeError();
  ASSERT_TRUE(bool(error));
  EXPECT_EQ(llvm::errorToErrorCode(std::move(error)),
            std::errc::no_such_device);
  EXPECT_HAS(message(openLibrary(kDriverLibrary)),
             "cannot open CUDA driver: " + broken);
}

TEST_F(CudaLibraries, SaysWhichFunctionIsMissing) {
  OpenLibrary self{RTLD_DEFAULT, "here"};
  EXPECT_EQ(message(findFunction(self, "CUDA driver", "cuNoSuchThing")),
            "CUDA driver library here has no function 'cuNoSuchThing'");
}

} // namespace

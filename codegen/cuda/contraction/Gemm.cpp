//===- Gemm.cpp - which kernel a matrix product gets on CUDA --------------===//
#include "codegen/cuda/contraction/Gemm.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mp;
using namespace mp::cuda;
using llvm::divideCeil;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string GemmShape::str() const {
  auto letter = [](bool transposed, bool broadcast) {
    char plain = transposed ? 't' : 'n';
    return broadcast ? llvm::toUpper(plain) : plain;
  };
  std::string name = tf32 ? "tf32" : elementTypeName(type).str();
  return name + " " + letter(transposeA, broadcastA) +
         letter(transposeB, broadcastB) + " " + std::to_string(batch) + "x" +
         std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
}

/// Reads "1x2x3" into an array of numbers.
template <typename Number, size_t Count>
static bool readSizes(llvm::StringRef text, Number *const (&sizes)[Count]) {
  llvm::SmallVector<llvm::StringRef> words;
  text.split(words, 'x');
  if (words.size() != Count)
    return false;
  for (auto [word, size] : llvm::zip_equal(words, sizes))
    if (word.getAsInteger(10, *size) || *size < 1)
      return false;
  return true;
}

static bool readOperand(char letter, bool &transposed, bool &broadcast) {
  transposed = llvm::toLower(letter) == 't';
  broadcast = llvm::isUpper(letter);
  return transposed || llvm::toLower(letter) == 'n';
}

llvm::Expected<GemmShape> GemmShape::parse(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  GemmShape shape;
  bool good = words.size() == 3 && words[1].size() == 2;
  if (good) {
    shape.tf32 = words[0] == "tf32";
    auto type = shape.tf32 ? ElementType::F32 : parseElementType(words[0]);
    good = type &&
           readOperand(words[1][0], shape.transposeA, shape.broadcastA) &&
           readOperand(words[1][1], shape.transposeB, shape.broadcastB) &&
           readSizes(words[2], {&shape.batch, &shape.m, &shape.n, &shape.k});
    shape.type = type.value_or(ElementType::F32);
  }
  if (!good)
    return llvm::createStringError("'" + text +
                                   "' is not a shape of a product, as 'f16 nt "
                                   "1x128x256x784' is");
  return shape;
}

std::string GemmConfig::str() const {
  auto number = [](int value) { return std::to_string(value); };
  return number(tileM) + "x" + number(tileN) + "x" + number(tileK) +
         " stages " + number(stages) + " warps " + number(warpsM) + "x" +
         number(warpsN) + " resident " + number(resident) + " splits " +
         number(splits) + (wgmma ? " wgmma" : "");
}

llvm::Expected<GemmConfig> GemmConfig::parse(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  GemmConfig config;
  config.wgmma = !words.empty() && words.back() == "wgmma";
  if (config.wgmma)
    words.pop_back();
  bool good =
      words.size() == 9 &&
      readSizes(words[0], {&config.tileM, &config.tileN, &config.tileK}) &&
      words[1] == "stages" && readSizes(words[2], {&config.stages}) &&
      words[3] == "warps" &&
      readSizes(words[4], {&config.warpsM, &config.warpsN}) &&
      words[5] == "resident" && readSizes(words[6], {&config.resident}) &&
      words[7] == "splits" && readSizes(words[8], {&config.splits});
  if (!good)
    return llvm::createStringError(
        "'" + text +
        "' is not a config of a product, as '128x128x32 stages 4 "
        "warps 2x4 resident 1 splits 1' is");
  return config;
}

//===----------------------------------------------------------------------===//
// Possible kernels
//===----------------------------------------------------------------------===//

namespace {
struct TableRow {
  GemmPath path;
  GemmConfig config;
  int rates[2];
};
constexpr TableRow kTable[] = {
#define MP_GEMM(PATH, M, N, K, STAGES, WARPS_M, WARPS_N, RESIDENT, OLD, NEW)   \
  {GemmPath::PATH,                                                             \
   {M, N, K, STAGES, WARPS_M, WARPS_N, RESIDENT, 1,                            \
    GemmPath::PATH == GemmPath::Wgmma},                                        \
   {OLD, NEW}},
#include "codegen/cuda/contraction/GemmTable.inc"
#undef MP_GEMM
};
} // namespace

GemmPath mp::cuda::pathOf(const GemmShape &shape) {
  switch (shape.type) {
  case ElementType::F16:
  case ElementType::BF16:
    return GemmPath::Half;
  case ElementType::F32:
    return shape.tf32 ? GemmPath::Tf32 : GemmPath::Fma;
  default:
    return GemmPath::Any;
  }
}

GemmPath mp::cuda::pathOf(const GemmShape &shape, const GemmConfig &config) {
  return config.wgmma ? GemmPath::Wgmma : pathOf(shape);
}

/// Returns whether a shape can take a path.
static bool canTake(const GemmShape &shape, GemmPath path) {
  GemmPath usual = pathOf(shape);
  return path == usual || (path == GemmPath::Wgmma && usual == GemmPath::Half);
}

llvm::StringRef mp::cuda::pathName(GemmPath path) {
  switch (path) {
  case GemmPath::Half:
    return "Half";
  case GemmPath::Wgmma:
    return "Wgmma";
  case GemmPath::Tf32:
    return "Tf32";
  case GemmPath::Fma:
    return "Fma";
  case GemmPath::Any:
    return "Any";
  }
  llvm_unreachable("all paths handled");
}

uint64_t mp::cuda::ringBytes(const GemmShape &shape, const GemmConfig &config) {
  if (pathOf(shape) == GemmPath::Any)
    return 0;
  return uint64_t(config.stages) * (config.tileM + config.tileN) *
         config.tileK * byteWidth(shape.type);
}

uint64_t mp::cuda::sharedBytes(const GemmShape &shape, const GemmConfig &config,
                               bool hasPlaces) {
  constexpr int bytesOfPlace = 16;
  GemmPath path = pathOf(shape);
  uint64_t slabRows = config.tileM;
  if (path == GemmPath::Fma)
    slabRows = config.threads() / 16 * 4;
  else if (path != GemmPath::Any)
    slabRows = config.warpsM * 16;
  // Reductions keep each thread's values of its columns, of 8 bytes at most.
  uint64_t sums = std::max(4u, byteWidth(shape.type));
  uint64_t places = hasPlaces ? config.tileM * bytesOfPlace : 0;
  return std::max({ringBytes(shape, config) + places,
                   slabRows * (config.tileN + 8) * sums,
                   uint64_t(config.threads()) * 8 * 8});
}

/// Whether a row of an operand of 16 bits begins between words, so that it is
/// copied element by element, through registers.
static bool hasOddRows(const GemmShape &shape) {
  int64_t ofA = shape.transposeA ? shape.m : shape.k,
          ofB = shape.transposeB ? shape.k : shape.n;
  return ofA % 2 != 0 || ofB % 2 != 0;
}

std::string mp::cuda::whyNot(const GemmShape &shape, const GemmConfig &config,
                             const Arch &arch) {
  GemmPath path = pathOf(shape, config);
  if (config.wgmma && arch.capability != 90)
    return "warpgroups multiply on sm_90 alone";
  // A thread has 255 registers if there are 256 threads on a multiprocessor.
  if (config.wgmma && config.threads() * config.resident > 256 &&
      hasOddRows(shape))
    return "rows of odd length take more registers than so many threads have";
  bool known =
      canTake(shape, path) && llvm::any_of(kTable, [&](const TableRow &row) {
        GemmConfig whole = config;
        whole.splits = 1;
        return row.path == path && row.config == whole;
      });
  if (!known)
    return ("no kernel of path " + pathName(path) + " is made so").str();
  uint64_t bytes = sharedBytes(shape, config);
  if (bytes > arch.sharedBytes())
    return "it needs " + std::to_string(bytes) +
           " bytes of shared memory, and a block has " +
           std::to_string(arch.sharedBytes()) + " on " + arch.name();
  int64_t tiles = divideCeil(shape.k, config.tileK);
  int64_t share = divideCeil(tiles, config.splits);
  if (config.splits > 1 && (path == GemmPath::Any ||
                            int64_t(divideCeil(tiles, share)) != config.splits))
    return "k is not so long as to be shared by " +
           std::to_string(config.splits);
  return "";
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

namespace {

/// A multiprocessor of an architecture's usual device.
struct Device {
  double multiprocessors;
  double flops[5];  ///< of one multiprocessor in a microsecond, by path
  double bandwidth; ///< of memory, bytes in a microsecond
  double sharedBytes;
};

/// NVIDIA's architecture white papers: A100, A10, L40, H100 (of wgmma's peak
/// mma.sync reaches about 60 %), B200, RTX 5090. Only sm_90 has wgmma.
Device deviceOf(const Arch &arch) {
  double shared = arch.sharedBytes();
  if (arch.capability >= 120)
    return {170, {2.4e6, 0, 0.6e6, 0.6e6, 1e4}, 1.7e6, shared};
  if (arch.capability >= 100)
    return {148, {4.5e6, 0, 2.2e6, 0.5e6, 1e4}, 7e6, shared};
  if (arch.capability >= 90)
    return {132, {4.5e6, 7.5e6, 2.2e6, 0.5e6, 1e4}, 3.3e6, shared};
  if (arch.capability >= 89)
    return {142, {1.3e6, 0, 0.64e6, 0.6e6, 1e4}, 0.86e6, shared};
  if (arch.capability >= 86)
    return {72, {1.7e6, 0, 0.87e6, 0.43e6, 1e4}, 0.6e6, shared};
  return {108, {2.9e6, 0, 1.4e6, 0.18e6, 1e4}, 1.5e6, shared};
}

int64_t tilesOf(const GemmShape &shape, const GemmConfig &config) {
  return shape.batch * divideCeil(shape.m, config.tileM) *
         divideCeil(shape.n, config.tileN);
}

/// Estimates the microseconds that a product takes: waves of blocks, a block's
/// time beside its sums, and the traffic of splits.
double estimate(const GemmShape &shape, const TableRow &row, const Arch &arch) {
  const GemmConfig &config = row.config;
  Device device = deviceOf(arch);
  double rate = row.rates[arch.capability >= 90] / 100.0 *
                device.flops[static_cast<int>(row.path)];
  double fit = device.sharedBytes / sharedBytes(shape, config);
  double resident = std::clamp(fit, 1.0, double(config.resident));
  double blocks = double(tilesOf(shape, config)) * config.splits;
  double steps = divideCeil(divideCeil(shape.k, config.tileK), config.splits);
  double work = 2.0 * config.tileM * config.tileN * config.tileK * steps;
  double onBusiest = std::ceil(blocks / device.multiprocessors);
  // A lone block of few warps leaves a multiprocessor waiting, unless its
  // products go on without them.
  bool waits = onBusiest < 2 && config.threads() < 256 && !config.wgmma;
  double alone = waits ? 1.3 : 1.0;
  double waves = std::ceil(onBusiest / std::floor(resident));
  double outside =
      1.5 + config.stages * 0.15 + config.tileM * config.tileN * 4.0 / 65536;
  double time = onBusiest * work * alone / rate + waves * outside;
  if (config.splits > 1) {
    double bytes = 8.0 * shape.batch * shape.m * shape.n * config.splits;
    time += 3 + bytes / device.bandwidth;
  }
  return time;
}

} // namespace

std::vector<GemmConfig> mp::cuda::gemmCandidates(const GemmShape &shape,
                                                 const Arch &arch,
                                                 size_t most) {
  std::vector<std::pair<double, GemmConfig>> found;
  for (TableRow row : kTable) {
    if (!canTake(shape, row.path))
      continue;
    for (int splits : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64}) {
      row.config.splits = splits;
      if (whyNot(shape, row.config, arch).empty())
        found.emplace_back(estimate(shape, row, arch), row.config);
    }
  }
  llvm::stable_sort(found, llvm::less_first());
  std::vector<GemmConfig> candidates;
  for (const auto &[time, config] : found)
    if (candidates.size() < most)
      candidates.push_back(config);
  return candidates;
}

GemmConfig mp::cuda::chooseGemm(const GemmShape &shape, const Arch &arch) {
  return gemmCandidates(shape, arch, 1).front();
}

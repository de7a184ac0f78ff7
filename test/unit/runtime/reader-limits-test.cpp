//===- reader-limits-test.cpp - what a hostile file may cost --------------===//
//
// Time and resident memory of reading files that announce much: a header of a
// million empty tensors, an idx file that unpacks to a thousand times its size.
//
//===----------------------------------------------------------------------===//
#include "TestFiles.h"
#include "runtime/data/Idx.h"
#include "runtime/data/Safetensors.h"
#include <ctime>
#include <malloc.h>

using namespace mp;
using namespace mp::test;

namespace {

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kMeasures = false; // sanitizers keep memory of their own
#else
constexpr bool kMeasures = true;
#endif

/// The most resident memory since the last reset, in bytes.
class PeakMemory {
public:
  PeakMemory() {
    malloc_trim(0); // what is free would be used again, and not be counted
    std::ofstream("/proc/self/clear_refs") << "5"; // resets the peak
    before = field("VmHWM:");
  }
  double since() const { return double(field("VmHWM:") - before); }

private:
  static long field(const std::string &name) {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
      if (word == name) {
        long kilobytes = 0;
        status >> kilobytes;
        return kilobytes << 10;
      }
    ADD_FAILURE() << "no " << name;
    return 0;
  }
  long before;
};

/// The processor's time of this process, which other processes change little.
double processorSeconds() { return double(clock()) / CLOCKS_PER_SEC; }

/// A header of `count` empty tensors; `fill` writes what is in the object of
/// one of them, `name` its name.
template <typename Name>
std::string header(size_t count, const std::string &fields, Name name) {
  std::string text = "{";
  for (size_t i = 0; i < count; ++i)
    text += (i ? ",\"" : "\"") + name(i) + "\":{" + fields + "}";
  return text + "}";
}

const std::string kEmpty = R"("dtype":"F64","shape":[0],"data_offsets":[0,0])";

/// Reads a file of this header, and checks that it costs at most four times the
/// header, and a second. The slack is what a process takes for any file.
void expectCheap(const std::string &text, size_t tensors) {
  constexpr double slack = 2 << 20;
  TestFolder folder;
  std::string path = folder.write("w.safetensors", safetensors(text, ""));
  PeakMemory peak;
  double start = processorSeconds();
  auto file = readSafetensors(path);
  double seconds = processorSeconds() - start, bytes = peak.since();
  ASSERT_EQ(message(file ? llvm::Error::success() : file.takeError()),
            "no error");
  EXPECT_EQ(file->tensors.size(), tensors);
  printf("%zu bytes of header: %.2f times as much memory, %.3f seconds\n",
         text.size(), bytes / text.size(), seconds);
  if (!kMeasures)
    return;
  EXPECT_LT(bytes, 4.0 * text.size() + slack);
  EXPECT_LT(seconds, 1);
}

TEST(SafetensorsHeaders, OfManyTensorsCostFourTimesTheirBytes) {
  auto plain = [](size_t i) { return "t" + std::to_string(i); };
  auto padded = [](size_t i) {
    std::string digits = std::to_string(i);
    return "model.layers." + std::string(7 - digits.size(), '0') + digits;
  };
  auto escaped = [](size_t i) {
    std::string name;
    for (char c : std::to_string(i))
      name += std::string("\\u00") + "3" + c;
    return name;
  };
  for (size_t count : {200'000, 1'000'000}) {
    expectCheap(header(count, kEmpty, plain), count);
    expectCheap(header(count, kEmpty, padded), count);
  }
  expectCheap(header(500'000, kEmpty, escaped), 500'000);
}

TEST(SafetensorsHeaders, OfAnotherBulkCostFourTimesTheirBytes) {
  auto name = [](size_t i) { return "t" + std::to_string(i); };
  std::string sizes = "0";
  for (size_t i = 0; i < 1'000'000; ++i)
    sizes += ",0";
  expectCheap(
      header(8, R"("dtype":"F64","data_offsets":[0,0],"shape":[)" + sizes + "]",
             name),
      8);
  expectCheap(header(8, kEmpty + ",\"x\":[" + sizes + "]", name), 8);
  // Long names that differ in the middle.
  expectCheap(header(2, kEmpty,
                     [](size_t i) {
                       std::string name(20'000'000, 'x');
                       name[name.size() / 2] = char('b' - i);
                       return name;
                     }),
              2);
  std::string text = "{\"__metadata__\":{";
  for (size_t i = 0; i < 10'000; ++i)
    text += (i ? ",\"" : "\"") + std::to_string(i) + "\":\"" +
            std::string(1000, 'x') + "\"";
  expectCheap(text + "}}", 0);
}

TEST(SafetensorsHeaders, LimitTheirMetadata) {
  TestFolder folder;
  std::string text = "{\"__metadata__\":{";
  for (size_t i = 0; i <= 10'000; ++i)
    text += (i ? ",\"" : "\"") + std::to_string(i) + "\":\"\"";
  EXPECT_HAS(
      message(readSafetensors(folder.write("w", safetensors(text + "}}", "")))),
      "__metadata__ has more than 10000 entries");
}

/// Packed zeros are a thousandth of their size; what the header does not
/// announce is not unpacked.
TEST(IdxLimits, UnpackNoMoreThanTheHeaderAnnounces) {
  TestFolder folder;
  constexpr size_t unpacked = 512 << 20;
  std::string packed = gzip(idx(0x08, {16}, std::string(unpacked, '\0')));
  EXPECT_LT(packed.size() * 900, unpacked);
  std::string path = folder.write("x.gz", packed);
  packed = {};
  PeakMemory peak;
  double start = processorSeconds();
  EXPECT_HAS(message(readIdx(path)), "left over");
  EXPECT_EQ(message(peekIdx(path)), "no error");
  EXPECT_LT(processorSeconds() - start, 0.1);
  if (kMeasures) {
    EXPECT_LT(peak.since(), 4 << 20);
  }
}

} // namespace

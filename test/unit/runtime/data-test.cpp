//===- data-test.cpp - readers and writers of data files ------------------===//
//
// Readers and writers of data files, and every possible fault of a file.
//
//===----------------------------------------------------------------------===//
#include "TestFiles.h"
#include "runtime/data/Convert.h"
#include "runtime/data/Idx.h"
#include "runtime/data/Npy.h"
#include "runtime/data/Safetensors.h"
#include "runtime/data/TensorDigests.h"
#include "llvm/ADT/APFloat.h"
#include <bit>
#include <cmath>
#include <cstring>

using namespace mp;
using namespace mp::test;

namespace {

std::string str(llvm::ArrayRef<char> bytes) {
  return {bytes.data(), bytes.size()};
}

/// A message is one line that names the file.
void expectFault(const std::string &text, const std::string &file,
                 const std::string &part) {
  EXPECT_HAS(text, part);
  EXPECT_HAS(text, file);
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

TEST(Idx, ReadsPlainAndGzipped) {
  TestFolder folder;
  std::string content = idx(0x08, {3, 2}, "abcdef");
  for (const std::string &bytes : {content, gzip(content)}) {
    auto array = readIdx(folder.write("x", bytes));
    ASSERT_TRUE(bool(array));
    EXPECT_EQ(array->type, (TensorType{ElementType::U8, {3, 2}}));
    EXPECT_EQ(str(array->bytes), "abcdef");
  }
}

TEST(Idx, ReadsMembersOfGzipInOrder) {
  TestFolder folder;
  std::string content = idx(0x08, {6}, "abcdef");
  auto array = readIdx(
      folder.write("x", gzip(content.substr(0, 9)) + gzip(content.substr(9))));
  ASSERT_TRUE(bool(array));
  EXPECT_EQ(str(array->bytes), "abcdef");
}

TEST(Idx, SwapsBigEndian) {
  TestFolder folder;
  auto array = readIdx(
      folder.write("x", idx(0x0D, {1}, std::string("\x3f\xc0\x00\x00", 4))));
  ASSERT_TRUE(bool(array));
  EXPECT_EQ(loadElement(ElementType::F32, array->bytes.data()), 1.5);
}

TEST(Idx, NamesEveryFault) {
  TestFolder folder;
  auto fault = [&](const std::string &bytes, const std::string &part) {
    expectFault(message(readIdx(folder.write("x.idx", bytes))), "x.idx", part);
  };
  expectFault(message(readIdx(folder.path("none.idx"))), "none.idx",
              "No such file");
  expectFault(message(readIdx(folder.root)), folder.root, "is a folder");
  std::string good = idx(0x08, {3, 2}, "abcdef");
  fault("", "truncated");
  fault("PK\x03\x04zip", "not an idx file");
  fault(good.substr(0, 6), "truncated");
  fault(good.substr(0, good.size() - 1), "truncated");
  fault(good + "x", "1 bytes left over");
  fault(idx(0x0B, {1}, "ab"), "element type 0b");
  fault(idx(0x08, {~0u, ~0u, ~0u}, "a"), "overflow");
  fault(idx(0x08, {~0u}, "a"), "needs 4294967295 bytes");
}

TEST(Idx, NamesEveryFaultOfGzip) {
  TestFolder folder;
  auto fault = [&](const std::string &bytes, const std::string &part) {
    expectFault(message(readIdx(folder.write("x.gz", bytes))), "x.gz", part);
  };
  std::string data(1000, '\0');
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = char(i * i / 7);
  std::string good = gzip(idx(0x08, {1000}, data));
  fault(good.substr(0, good.size() / 2), "truncated");
  fault(good.substr(0, good.size() - 4), "truncated");
  fault(good + "tail", "4 bytes left over after the gzip data");
  fault(gzip(idx(0x08, {999}, data)), "left over");
  fault(gzip(idx(0x08, {1001}, data)), "truncated");
  std::string flipped = good;
  flipped[good.size() - 6] ^= 1; // in the checksum
  fault(flipped, "damaged gzip data");
  fault(gzip("something else"), "not an idx file");
  // A few bytes that claim 4 GiB cost no memory.
  fault(gzip(idx(0x08, {~0u}, "a")), "truncated");
}

TEST(Npy, RoundTripsEveryType) {
  TestFolder folder;
  for (ElementType element :
       {ElementType::I1, ElementType::I8, ElementType::U8, ElementType::I16,
        ElementType::U16, ElementType::I32, ElementType::U32, ElementType::I64,
        ElementType::F16, ElementType::F32, ElementType::F64}) {
    TensorType type{element, {2, 1, 3}};
    std::string bytes(type.bytes(), '\0');
    for (size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = char(i % 2);
    ASSERT_EQ(message(writeNpy(folder.path("x.npy"), type,
                               {bytes.data(), bytes.size()})),
              "no error");
    auto array = readNpy(folder.path("x.npy"));
    ASSERT_TRUE(bool(array)) << elementTypeName(element).str();
    EXPECT_EQ(array->type, type);
    EXPECT_EQ(str(array->bytes), bytes);
    EXPECT_EQ(folder.read("x.npy").find('\n') % 64, 63u) << "data is aligned";
  }
}

TEST(Npy, WritesScalarsAndWidensBf16) {
  TestFolder folder;
  char half[2] = {char(0x80), 0x3f}; // 1.0 in bf16
  ASSERT_EQ(
      message(writeNpy(folder.path("x.npy"), {ElementType::BF16, {}}, half)),
      "no error");
  auto array = readNpy(folder.path("x.npy"));
  ASSERT_TRUE(bool(array));
  EXPECT_EQ(array->type, (TensorType{ElementType::F32, {}}));
  EXPECT_EQ(loadElement(ElementType::F32, array->bytes.data()), 1.0);
}

TEST(Npy, NamesEveryFault) {
  TestFolder folder;
  auto fault = [&](const std::string &bytes, const std::string &part) {
    expectFault(message(readNpy(folder.write("x.npy", bytes))), "x.npy", part);
  };
  std::string header =
      "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }\n";
  ASSERT_EQ(message(readNpy(folder.write("x.npy", npy(header, "abcdef")))),
            "no error");
  fault("hello", "not an npy file");
  fault("PK\x03\x04 and more", "a zip archive");
  fault(npy(header, "abcdef").substr(0, 9), "truncated");
  fault(npy(header, "abcdef").substr(0, 30), "truncated");
  fault(npy(header, "abcde"), "truncated");
  fault(npy(header, "abcdefg"), "left over");
  std::string version = npy(header, "abcdef");
  version[6] = 9;
  fault(version, "version 9");
  fault(
      npy("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", "abcd"),
      "dtype");
  fault(npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "abcd"),
        "dtype");
  fault(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (1,), }", "abcd"),
        "Fortran order");
  fault(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", ""),
        "byte 51: expected a size");
  fault(npy("{'descr': '<f4', 'fortran_order': False, "
            "'shape': (4294967296, 4294967296), }",
            ""),
        "overflow");
  fault(npy("{}", ""), "damaged npy header");
  fault(
      npy("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", "\1\2"),
      "element 1 of a boolean tensor is 2");
}

TEST(Safetensors, RoundTripsEveryTypeAligned) {
  TestFolder folder;
  std::string bytes(64, '\1');
  std::vector<NamedTensor> tensors;
  for (ElementType element :
       {ElementType::I1, ElementType::U8, ElementType::I8, ElementType::BF16,
        ElementType::F16, ElementType::I16, ElementType::U16, ElementType::I32,
        ElementType::U32, ElementType::F32, ElementType::I64, ElementType::F64})
    tensors.push_back({"t." + elementTypeName(element).str(),
                       {element, {3}},
                       llvm::ArrayRef(bytes.data(), 3 * byteWidth(element))});
  tensors.push_back({"empty", {ElementType::F32, {0, 7}}, {}});
  ASSERT_EQ(
      message(writeSafetensors(folder.path("w"), tensors, {{"a", "\"b\\"}})),
      "no error");
  auto file = readSafetensors(folder.path("w"));
  ASSERT_TRUE(bool(file));
  EXPECT_EQ(file->metadata.at("a"), "\"b\\");
  ASSERT_EQ(file->tensors.size(), tensors.size());
  for (const NamedTensor &tensor : tensors) {
    const Array &array = file->tensors.at(tensor.name);
    EXPECT_EQ(array.type, tensor.type);
    EXPECT_EQ(str(array.bytes), str(tensor.bytes));
    auto offset = array.bytes.data() - file->tensors.at("t.f64").bytes.data();
    EXPECT_EQ(offset % byteWidth(tensor.type.element), 0);
  }
}

TEST(Safetensors, FindsATensorByKey) {
  TestFolder folder;
  std::string two = safetensors(
      R"({"weight":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
      R"("bias":{"dtype":"U8","shape":[],"data_offsets":[1,2]}})",
      "ab");
  std::string path = folder.write("w.safetensors", two);
  auto array = readArray(path, "safetensors", "bias");
  ASSERT_TRUE(bool(array));
  EXPECT_EQ(str(array->bytes), "b");
  EXPECT_HAS(message(readArray(path, "safetensors")), "holds 2 tensors");
  EXPECT_HAS(message(readArray(path, "safetensors", "wieght")),
             "did you mean 'weight'?");
  EXPECT_HAS(message(readArray(path, "safetensor")),
             "did you mean 'safetensors'?");
}

TEST(Safetensors, NamesEveryFault) {
  TestFolder folder;
  auto fault = [&](const std::string &bytes, const std::string &part) {
    expectFault(message(readSafetensors(folder.write("w.st", bytes))), "w.st",
                part);
  };
  auto entry = [](const std::string &dtype, const std::string &shape,
                  const std::string &offsets) {
    return R"("a":{"dtype":")" + dtype + R"(","shape":)" + shape +
           R"(,"data_offsets":)" + offsets + "}";
  };
  std::string good = entry("U8", "[2]", "[0,2]");
  ASSERT_EQ(message(readSafetensors(
                folder.write("w.st", safetensors("{" + good + "}", "ab")))),
            "no error");
  fault("abc", "truncated");
  fault(std::string(8, '\xff') + "{}", "not a safetensors file");
  fault(safetensors("{" + good + "}", "ab").substr(0, 20), "truncated");
  fault(safetensors("{" + good + "}", "a"), "truncated");
  fault(safetensors("{" + good + "}", "abc"), "1 bytes left over");
  fault(safetensors("{" + good, "ab"), "byte 52: expected ',' or '}'");
  fault(safetensors("[]", ""), "not a safetensors file");
  fault(safetensors("{\"a\":" + std::string(60000, '['), ""),
        "byte 5: expected an object");
  fault(safetensors("{\"a\":{\"b\":" + std::string(60000, '['), ""),
        "byte 136: nests deeper than 127");
  fault(safetensors("{" + entry("F8", "[2]", "[0,2]") + "}", "ab"),
        "unknown dtype 'F8'");
  fault(safetensors("{" + entry("U8", "[-2]", "[0,2]") + "}", "ab"),
        "natural number");
  fault(safetensors("{" + entry("U8", "[1e400]", "[0,2]") + "}", "ab"),
        "natural number");
  fault(safetensors("{" + entry("U8", "[3]", "[0,2]") + "}", "ab"),
        "needs 3 bytes of data, and has 2");
  fault(safetensors(
            "{" + entry("F64", "[4294967296,4294967296]", "[0,0]") + "}", ""),
        "sizes whose product overflows");
  fault(safetensors("{" + entry("U8", "[1]", "[1,2]") + "}", "ab"),
        "starts at byte 1");
  fault(safetensors("{" + entry("U8", "[1]", "[2,1]") + "}", "ab"), "bytes 2");
  fault(safetensors("{" + entry("BOOL", "[2]", "[0,2]") + "}", "ab"),
        "boolean");
  fault(
      safetensors("{" + good + "," + entry("U8", "[2]", "[2,4]") + "}", "abcd"),
      "tensor 'a' is there twice");
  fault(safetensors(R"({"__metadata__":{"a":1}})", ""),
        "byte 21: expected a string");
}

TEST(Safetensors, DigestsFindDamageInEachPart) {
  TestFolder folder;
  std::vector<char> bytes(3 * kDigestedBytes - 5, 'x');
  TensorType type{ElementType::U8, {int64_t(bytes.size())}};
  std::string path = folder.path("w");
  ASSERT_EQ(message(writeSafetensors(path,
                                     {{"a", type, bytes},
                                      {"b", type, bytes},
                                      {"c", {ElementType::U8, {0}}, {}}},
                                     {}, Digests::Written)),
            "no error");
  std::string good = folder.read("w");
  EXPECT_TRUE(llvm::cantFail(readSafetensors(path)).hasDigests);
  auto flipped = [&](size_t fromEnd) {
    std::string file = good;
    file[file.size() - fromEnd] ^= 1;
    return message(readSafetensors(folder.write("flipped", file)));
  };
  for (size_t fromEnd : {size_t(1), kDigestedBytes, bytes.size()})
    EXPECT_HAS(flipped(fromEnd), "tensor 'b' is not the one");
  for (size_t fromEnd : {bytes.size() + 1, 2 * bytes.size()})
    EXPECT_HAS(flipped(fromEnd), "tensor 'a' is not the one");
}

/// What files had before digests of parts: one digest for each tensor.
TEST(Safetensors, DigestsOfWholeTensorsAreStillCompared) {
  TestFolder folder;
  std::string data = "abcd";
  auto write = [&](const std::string &digest) {
    auto header = [&](const std::string &ofHeader) {
      return R"({"__metadata__":{"header_digest":")" + ofHeader +
             R"(","tensor_digests":")" + digest +
             R"("},"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})";
    };
    std::string zeros(kDigestDigits, '0');
    std::string ofHeader = headerDigest(header(zeros), zeros);
    return folder.write("w", safetensors(header(ofHeader), data));
  };
  std::string digest = digestsOf(data);
  EXPECT_TRUE(llvm::cantFail(readSafetensors(write(digest))).hasDigests);
  digest.back() ^= 1;
  EXPECT_HAS(message(readSafetensors(write(digest))),
             "tensor 'a' is not the one that was written");
}

TEST(Convert, ReadsAllHalfPrecisionLikeApFloat) {
  struct {
    ElementType type;
    const llvm::fltSemantics &semantics;
  } kinds[] = {{ElementType::F16, llvm::APFloat::IEEEhalf()},
               {ElementType::BF16, llvm::APFloat::BFloat()}};
  for (auto &[type, semantics] : kinds)
    for (unsigned bits = 0; bits < 1 << 16; ++bits) {
      uint16_t value = bits;
      char bytes[2];
      std::memcpy(bytes, &value, 2);
      llvm::APFloat expected(semantics, llvm::APInt(16, bits));
      double got = loadElement(type, bytes);
      if (expected.isNaN()) {
        EXPECT_TRUE(std::isnan(got));
        continue;
      }
      ASSERT_EQ(got, expected.convertToDouble()) << bits;
      storeElement(type, got, bytes);
      std::memcpy(&value, bytes, 2);
      ASSERT_EQ(value, bits);
    }
}

TEST(Convert, RoundsOnceToNearestEven) {
  char bytes[2];
  uint16_t bits;
  // 1 + 2^-11 lies midway between two f16 values, a little more does not; going
  // through f32 would lose the little.
  storeElement(ElementType::F16, 1 + 0x1p-11, bytes);
  std::memcpy(&bits, bytes, 2);
  EXPECT_EQ(bits, 0x3c00);
  storeElement(ElementType::F16, 1 + 0x1p-11 + 0x1p-40, bytes);
  std::memcpy(&bits, bytes, 2);
  EXPECT_EQ(bits, 0x3c01);
  storeElement(ElementType::F16, 65520, bytes);
  EXPECT_TRUE(std::isinf(loadElement(ElementType::F16, bytes)));
}

} // namespace

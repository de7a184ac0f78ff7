//===- reader-verdicts-test.cpp - the verdicts of the Python packages -----===//
//
// Crafted files, most of them damaged, and what the packages `safetensors` and
// `numpy` say of each: test/goldens/readers.py makes both. Ours must be the
// same verdict but for the short lists here, each of which has its reason.
//
//===----------------------------------------------------------------------===//
#include "TestFiles.h"
#include "runtime/data/Npy.h"
#include "runtime/data/NpyHeader.h"
#include "runtime/data/Safetensors.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/JSON.h"
#include <chrono>

using namespace mp;
using namespace mp::test;
using llvm::StringRef;

namespace {

/// A case that only we refuse, and a part of the message that says why.
struct Refusal {
  StringRef name, message;
};

/// The published format forbids the first six: "Duplicate keys are disallowed",
/// a tensor is an object, and a dtype is a string. Two readers would find other
/// weights in a file that has two tensors of one name. Kernels read a boolean
/// as it is.
constexpr Refusal kStricterThanSafetensors[] = {
    {"equal tensors of one name", "tensor 'a' is there twice"},
    {"tensors of one name, the last fits", "at bytes 2 to 4"},
    {"tensors of one name, one with an escape", "tensor 'a' is there twice"},
    {"metadata: key twice", "__metadata__ has 'a' twice"},
    {"a tensor as an array", "expected an object"},
    {"a dtype as an object", "expected a string"},
    {"booleans other than 0 and 1", "element 1 of a boolean tensor is 2"},
};

/// Data after an array would be the next array of a file of several, or the
/// header is damaged. NumPy writes none of the other spellings.
constexpr Refusal kStricterThanNumPy[] = {
    {"data left over", "bytes left over"},
    {"header: comment", "expected the end"},
    {"header: in parentheses", "expected a dict"},
    {"fortran_order (False)", "expected True or False"},
    {"descr u'|u1'", "expected a string in quotes"},
    {"descr '|u' '1'", "expected ',' or '}'"},
    {"descr '\\x7cu1'", "expected a string without escapes"},
    {"descr '''|u1'''", "expected ',' or '}'"},
    {"descr ('|u1', (1,))", "expected a string in quotes"},
    {"descr [('a', '|u1')]", "expected a string in quotes"},
    {"descr 'uint8'", "is not supported"},
    {"descr 'float32'", "is not supported"},
    {"descr '|u01'", "is not supported"},
    {"shape (0x2, 3) with data", "expected ',' or ')'"},
};

const Refusal *find(llvm::ArrayRef<Refusal> list,
                    const llvm::json::Object &golden) {
  auto *found = llvm::find_if(list, [&](const Refusal &refusal) {
    return refusal.name == *golden.getString("name");
  });
  return found == list.end() ? nullptr : found;
}

/// Text of a golden: each character is a byte.
std::string bytesOf(StringRef text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned char c = text[i];
    bytes += c < 0x80 ? c : char((c << 6) | (text[++i] & 0x3F));
  }
  return bytes;
}

std::string contentOf(const llvm::json::Object &golden) {
  std::string content;
  for (const llvm::json::Value &value : *golden.getArray("parts")) {
    const llvm::json::Array &part = *value.getAsArray();
    std::string bytes = bytesOf(*part[0].getAsString());
    for (int64_t i = 0; i < *part[1].getAsInteger(); ++i)
      content += bytes;
  }
  return content;
}

/// Calls `check(golden, path)` for each case, whose file is at `path`.
template <typename Check> void forEachCase(const char *file, Check check) {
  auto buffer =
      llvm::MemoryBuffer::getFile(std::string(MP_GOLDENS_DIR "/") + file);
  ASSERT_TRUE(bool(buffer));
  auto goldens = llvm::cantFail(llvm::json::parse((*buffer)->getBuffer()));
  const llvm::json::Array &cases = *goldens.getAsObject()->getArray("cases");
  EXPECT_GE(cases.size(), 100u);
  TestFolder folder;
  for (const llvm::json::Value &value : cases) {
    const llvm::json::Object &golden = *value.getAsObject();
    SCOPED_TRACE(golden.getString("name")->str());
    check(golden, folder.write("case", contentOf(golden)));
  }
}

/// Reads with `read` and returns the message, which must come within 100 ms,
/// name the file, and be one line; "" if there is no error.
template <typename Read>
std::string refusal(Read read, const std::string &path) {
  auto start = std::chrono::steady_clock::now();
  auto value = read();
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  if (value)
    return "";
  std::string text = llvm::toString(value.takeError());
  EXPECT_LT(seconds.count(), 0.1) << text.substr(0, 500);
  EXPECT_TRUE(StringRef(text).starts_with(path + ": ")) << text.substr(0, 500);
  EXPECT_LT(text.size(), 500u);
  EXPECT_FALSE(llvm::any_of(text, [](unsigned char c) { return c < 0x20; }))
      << text.substr(0, 500);
  return text;
}

/// Compares a verdict with the package's, which may be another one only for
/// the cases of a list. Returns whether both take the file.
bool agrees(const llvm::json::Object &golden, const std::string &message,
            llvm::ArrayRef<Refusal> stricter) {
  auto error = golden.getString("error");
  if (const Refusal *listed = find(stricter, golden)) {
    EXPECT_FALSE(error) << "the package refuses it, too";
    EXPECT_HAS(message, listed->message.str());
    return false;
  }
  EXPECT_EQ(message.empty(), !error)
      << (error ? "the package says: " + error->str() : message);
  return message.empty() && !error;
}

TEST(SafetensorsVerdicts, AreThoseOfThePackage) {
  forEachCase("readers-safetensors.json", [](const llvm::json::Object &golden,
                                             const std::string &path) {
    std::string message = refusal([&] { return readSafetensors(path); }, path);
    if (!agrees(golden, message, kStricterThanSafetensors))
      return;
    Safetensors file = llvm::cantFail(readSafetensors(path));
    size_t usable = 0;
    for (auto &[name, value] : *golden.getObject("tensors")) {
      const llvm::json::Array &tensor = *value.getAsArray();
      std::string unusable = file.tensors.whyUnusable(name);
      usable += unusable.empty();
      if (!unusable.empty()) {
        EXPECT_HAS(unusable, name.str());
        EXPECT_EQ(file.tensors.count(name), 0u);
        continue;
      }
      ASSERT_EQ(file.tensors.count(name), 1u) << name.str();
      Array array = file.tensors.at(name);
      ASSERT_EQ(array.type.shape.size(), tensor[1].getAsArray()->size());
      for (size_t i = 0; i < array.type.shape.size(); ++i)
        EXPECT_EQ(std::to_string(array.type.shape[i]),
                  (*tensor[1].getAsArray())[i].getAsString()->str());
      EXPECT_EQ(std::string(array.bytes.data(), array.bytes.size()),
                bytesOf(*tensor[2].getAsString()));
    }
    EXPECT_EQ(file.tensors.size(), usable);
  });
}

TEST(SafetensorsVerdicts, NameTensorsThatCannotBeUsed) {
  TestFolder folder;
  std::string path = folder.write(
      "w",
      safetensors(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                  R"("b":{"dtype":"U64","shape":[1],"data_offsets":[1,9]},)"
                  R"("c":{"dtype":"U8","shape":[4611686018427387904,0],)"
                  R"("data_offsets":[9,9]}})",
                  "abcdefghi"));
  EXPECT_EQ(message(readArray(path, "safetensors", "a")), "no error");
  EXPECT_HAS(message(readArray(path, "safetensors", "b")),
             path + ": tensor 'b' has dtype U64, expected BOOL, U8,");
  EXPECT_HAS(message(readArray(path, "safetensors", "c")),
             path + ": tensor 'c' has sizes whose product overflows");
  EXPECT_HAS(message(readArray(path, "safetensors")), "holds 3 tensors");
}

TEST(NpyVerdicts, AreThoseOfNumPy) {
  forEachCase("readers-npy.json", [](const llvm::json::Object &golden,
                                     const std::string &path) {
    std::string message = refusal([&] { return readNpy(path); }, path);
    auto descr = golden.getString("descr");
    if (descr && !message.empty() && !find(kStricterThanNumPy, golden)) {
      // NumPy takes it, and we say that we do not.
      bool isFortran = *golden.getBoolean("fortran");
      EXPECT_HAS(message, isFortran ? "in Fortran order" : "is not supported");
      EXPECT_TRUE(isFortran || !parseNpyDtype(*descr)) << message;
      return;
    }
    if (!agrees(golden, message, kStricterThanNumPy))
      return;
    Array array = llvm::cantFail(readNpy(path));
    EXPECT_EQ(array.type.element, parseNpyDtype(*golden.getString("descr")));
    EXPECT_EQ(llvm::json::Value(llvm::json::Array(array.type.shape)),
              *golden.get("shape"));
  });
}

} // namespace

//===- pictures-test.cpp - PNG and JPEG files, folders of them ------------===//
//
// The pixels that Pillow and torchvision make of small files
// (test/goldens/pictures.py), files that are refused, and folders of pictures
// as the columns of a data set.
//
//===----------------------------------------------------------------------===//
#include "TestFiles.h"
#include "runtime/data/Dataset.h"
#include "runtime/pictures/Picture.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/JSON.h"
#include <cstdlib>

using namespace mp;
using namespace mp::test;
using llvm::StringRef;

namespace {

std::string decoded(StringRef text) {
  std::vector<char> bytes;
  llvm::cantFail(llvm::decodeBase64(text, bytes));
  return {bytes.begin(), bytes.end()};
}

const llvm::json::Object &goldens() {
  static const llvm::json::Value all = llvm::cantFail(llvm::json::parse(
      llvm::cantFail(llvm::errorOrToExpected(llvm::MemoryBuffer::getFile(
                         MP_GOLDENS_DIR "/pictures.json")))
          ->getBuffer()));
  return *all.getAsObject();
}

/// Calls `check` with the text of a case, its file, and the case.
template <typename Check> void forEachCase(StringRef list, Check check) {
  for (const llvm::json::Value &value : *goldens().getArray(list)) {
    const llvm::json::Object &golden = *value.getAsObject();
    SCOPED_TRACE(golden.getString("name")->str());
    check(golden, decoded(*golden.getString("file")));
  }
}

/// A PNG file of the goldens.
std::string fileOf(StringRef name) {
  std::string found;
  forEachCase("pictures",
              [&](const llvm::json::Object &golden, const std::string &file) {
                if (*golden.getString("name") == name)
                  found = file;
              });
  EXPECT_FALSE(found.empty());
  return found;
}

TEST(PicturesTest, PixelsAreThoseOfPillowAndTorchvision) {
  forEachCase("pictures", [](const llvm::json::Object &golden,
                             const std::string &file) {
    const llvm::json::Array &shape = *golden.getArray("shape");
    int64_t size[3];
    for (auto [i, value] : llvm::enumerate(shape))
      size[i] = *value.getAsInteger();
    auto picture = decodePicture(file, "p");
    ASSERT_TRUE(bool(picture)) << llvm::toString(picture.takeError());
    std::vector<uint8_t> pixels(size[0] * size[1] * size[2]);
    fitPicture(*picture, size[0], size[1], size[2], pixels.data());
    std::string expected = decoded(*golden.getString("pixels"));
    ASSERT_EQ(pixels.size(), expected.size());
    int farthest = 0;
    for (size_t i = 0; i < pixels.size(); ++i)
      farthest = std::max(farthest,
                          std::abs(int(pixels[i]) - int(uint8_t(expected[i]))));
    EXPECT_LE(farthest, *golden.getInteger("tolerance"));
  });
}

TEST(PicturesTest, RefusesDamagedAndHugeFilesByName) {
  forEachCase("refused",
              [](const llvm::json::Object &golden, const std::string &file) {
                auto picture = decodePicture(file, "some.png");
                ASSERT_FALSE(bool(picture));
                std::string text = llvm::toString(picture.takeError());
                EXPECT_TRUE(StringRef(text).starts_with("some.png: ")) << text;
                EXPECT_HAS(text, golden.getString("message")->str());
              });
}

/// Folders of classes: "cat" has two pictures, and "dog" has one.
class PictureFolderTest : public testing::Test {
protected:
  PictureFolderTest() {
    for (const char *name : {"train", "train/cat", "train/dog"})
      llvm::sys::fs::create_directory(folder.path(name));
    folder.write("train/cat/b.png", fileOf("png: gray to gray"));
    folder.write("train/cat/a.PNG", fileOf("png: colours, scaled down"));
    folder.write("train/cat/notes.txt", "none");
    folder.write("train/dog/a.jpg", fileOf("jpeg: 4:4:4"));
  }

  llvm::Expected<Dataset> open(uint64_t cacheBytes = 1 << 20) {
    DataColumn image{"image", "train", "images", "", ElementType::U8, {}};
    image.shape = {8, 8, 3};
    DataColumn label{"label", "train", "classes", "", ElementType::U8, {}};
    return Dataset::open({"train", {image, label}, {}}, folder.root,
                         {.threads = 2, .cacheBytes = cacheBytes});
  }
  std::string gathered(const Dataset &data, llvm::ArrayRef<int64_t> rows) {
    std::string bytes(rows.size() * 8 * 8 * 3, '\0');
    llvm::cantFail(data.gather(0, rows, bytes.data()));
    return bytes;
  }

  TestFolder folder;
};

TEST_F(PictureFolderTest, ClassesAreFoldersInTheOrderOfTheirNames) {
  Dataset data = llvm::cantFail(open());
  EXPECT_EQ(data.samples(), 3);
  EXPECT_EQ(data.classes(), (std::vector<std::string>{"cat", "dog"}));
  char labels[3];
  llvm::cantFail(data.gather(1, {0, 1, 2}, labels));
  EXPECT_EQ(std::string(labels, 3), std::string("\0\0\1", 3));
}

TEST_F(PictureFolderTest, SamplesAreTheSameInAnyOrderAndWithAnyCache) {
  Dataset data = llvm::cantFail(open()), uncached = llvm::cantFail(open(0)),
          half = llvm::cantFail(open(8 * 8 * 3));
  std::string all = gathered(data, {0, 1, 2});
  EXPECT_EQ(all, gathered(data, {0, 1, 2})) << "from the cache";
  EXPECT_EQ(all, gathered(uncached, {0, 1, 2}));
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(all.substr(i * 192, 192), gathered(half, {int64_t(i)}));
  EXPECT_EQ(gathered(data, {2, 2, 0}),
            all.substr(384) + all.substr(384) + all.substr(0, 192));
}

TEST_F(PictureFolderTest, NamesTheFileThatCannotBeDecoded) {
  folder.write("train/dog/a.jpg", "no picture");
  Dataset data = llvm::cantFail(open());
  char bytes[3 * 192];
  EXPECT_EQ(llvm::toString(data.gather(0, {2, 0, 1}, bytes)),
            folder.path("train/dog/a.jpg") + ": neither a PNG nor a JPEG file");
}

TEST_F(PictureFolderTest, RefusesFoldersThatAreNotOfClasses) {
  llvm::sys::fs::create_directory(folder.path("train/empty"));
  EXPECT_EQ(message(open()),
            folder.path("train/empty") + ": a class without PNG or JPEG files");
  folder.write("train/empty/a.gif", "GIF89a");
  EXPECT_EQ(message(open()), folder.path("train/empty/a.gif") +
                                 ": a picture that is not PNG or JPEG");
  llvm::sys::fs::remove_directories(folder.path("train"));
  EXPECT_HAS(message(open()), "no folder in " + folder.root +
                                  " matches 'train' (it holds no folders)");
  llvm::sys::fs::create_directory(folder.path("train"));
  EXPECT_HAS(message(open()), "holds no folders, expected one for each class");
}

TEST_F(PictureFolderTest, TooManyClassesForTheirType) {
  for (int i = 0; i < 256; ++i) {
    std::string name = "train/c" + std::to_string(1000 + i);
    llvm::sys::fs::create_directory(folder.path(name));
    folder.write(name + "/a.png", "");
  }
  EXPECT_EQ(message(open()),
            folder.path("train") + ": holds 258 classes, too many for ui8");
}

/// Records of a label and four bytes, as CIFAR's.
class RecordsTest : public testing::Test {
protected:
  llvm::Expected<Dataset> open() {
    DataColumn image{"image", "batch_*.bin",   "records",
                     "",      ElementType::U8, {}};
    image.shape = {4};
    image.recordBytes = 5;
    image.recordOffset = 1;
    DataColumn label{"label", "batch_*.bin",   "records",
                     "",      ElementType::U8, {}};
    label.recordBytes = 5;
    return Dataset::open({"train", {image, label}, {}}, folder.root);
  }
  TestFolder folder;
};

TEST_F(RecordsTest, FilesFollowOneAnotherInTheOrderOfTheirNames) {
  folder.write("batch_2.bin", "2cccc");
  folder.write("batch_1.bin", "0aaaa1bbbb");
  Dataset data = llvm::cantFail(open());
  EXPECT_EQ(data.samples(), 3);
  char images[12], labels[3];
  llvm::cantFail(data.gather(0, {2, 0, 1}, images));
  llvm::cantFail(data.gather(1, {2, 0, 1}, labels));
  EXPECT_EQ(std::string(images, 12), "ccccaaaabbbb");
  EXPECT_EQ(std::string(labels, 3), "201");
}

TEST_F(RecordsTest, NamesTheFileThatIsTruncated) {
  folder.write("batch_1.bin", "0aaaa");
  for (const char *content : {"", "0aaa", "0aaaa1"}) {
    folder.write("batch_2.bin", content);
    EXPECT_EQ(message(open()),
              folder.path("batch_2.bin") + ": has " +
                  std::to_string(strlen(content)) +
                  " bytes, which are no whole number of records of 5 bytes: it "
                  "is truncated, or in another format");
  }
}

} // namespace

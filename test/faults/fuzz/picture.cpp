//===- picture.cpp - fuzz target: PNG and JPEG files ----------------------===//
#include "runtime/pictures/Picture.h"
#include "Target.h"

using namespace mp;
using namespace mp::fuzz;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto picture = decodePicture(textOf(data, size), "picture");
  if (!succeeds(picture))
    return 0;
  require(picture->pixels.size() ==
              size_t(3 * picture->height * picture->width),
          "pixels of another size");
  uint8_t fitted[12 * 7 * 3];
  fitPicture(*picture, 12, 7, 3, fitted);
  touch(llvm::ArrayRef(reinterpret_cast<const char *>(fitted), sizeof(fitted)));
  return 0;
}

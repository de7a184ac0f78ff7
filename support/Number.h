//===- Number.h - numbers as text -----------------------------------------===//
#ifndef MP_SUPPORT_NUMBER_H
#define MP_SUPPORT_NUMBER_H

#include <charconv>
#include <iterator>
#include <string>

namespace mp {

/// Returns the shortest decimal that reads back as the same number: "0.1",
/// "1e-06", "inf".
inline std::string shortestDecimal(double number) {
  char text[32];
  return {text, std::to_chars(text, std::end(text), number).ptr};
}

} // namespace mp

#endif // MP_SUPPORT_NUMBER_H

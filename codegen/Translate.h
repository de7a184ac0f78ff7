//===- Translate.h - translations for mp-translate ------------------------===//
#ifndef MP_CODEGEN_TRANSLATE_H
#define MP_CODEGEN_TRANSLATE_H

namespace mp {
/// `--mp-to-program` prints the Program that a module's recipe, or function,
/// compiles to. `--mp-to-cuda` prints its kernels as CUDA C++, with the headers
/// that they include, for reading.
void registerTranslations();
} // namespace mp

#endif // MP_CODEGEN_TRANSLATE_H

//===- Translate.h - translations for mp-translate ------------------------===//
#ifndef MP_CODEGEN_TRANSLATE_H
#define MP_CODEGEN_TRANSLATE_H

namespace mp {
/// `--mp-to-program`: the text of the Program that a module's recipe, or
/// function, compiles to. `--mp-to-cuda`: its kernels as CUDA C++, with what
/// they include, for reading.
void registerTranslations();
} // namespace mp

#endif // MP_CODEGEN_TRANSLATE_H

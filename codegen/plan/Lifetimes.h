//===- Lifetimes.h - which steps use a buffer -------------------*- C++ -*-===//
#ifndef MP_CODEGEN_PLAN_LIFETIMES_H
#define MP_CODEGEN_PLAN_LIFETIMES_H

#include "codegen/Backend.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mp {

/// Calls `visit` with every place and its step; the step of results is the
/// last.
void forEachPlace(Entry &entry,
                  llvm::function_ref<void(BufferRef &, uint32_t)> visit);

/// Sets the first and the last step of each buffer of an entry point whose
/// places in the arena are named by their buffers.
void findLifetimes(Entry &entry);

/// Returns a buffer that a step, or the host, reads before a step has written
/// it; or null.
const Buffer *findUnwritten(const Entry &entry,
                            llvm::ArrayRef<StepBufferRefs> places);

} // namespace mp

#endif // MP_CODEGEN_PLAN_LIFETIMES_H

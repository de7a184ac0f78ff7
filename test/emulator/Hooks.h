//===- Hooks.h - calls from the sanitizer's instrumentation ---------------===//
//
// Kernels are compiled with -fsanitize=thread, whose runtime is not linked:
// each load and store that the compiler cannot prove local calls one of these
// functions, which report accesses to shared memory to the emulator.
//
//===----------------------------------------------------------------------===//
#ifndef MP_EMULATOR_HOOKS_H
#define MP_EMULATOR_HOOKS_H

namespace mp::emulator {
__attribute__((always_inline, no_sanitize("thread"))) inline void
seen(const void *address, unsigned long size, bool write) {
  Context *context = mpEmulator;
  const auto *byte = static_cast<const unsigned char *>(address);
  if (static_cast<unsigned long long>(byte - context->watched) <
      context->watchedBytes)
    context->sharedAccess(address, static_cast<unsigned>(size), write);
}
} // namespace mp::emulator

#define MP_HOOK                                                                \
  extern "C" __attribute__((visibility("hidden"), used, noinline,              \
                            no_sanitize("thread")))
#define MP_ACCESS_HOOKS(size)                                                  \
  MP_HOOK void __tsan_read##size(void *p) {                                    \
    mp::emulator::seen(p, size, false);                                        \
  }                                                                            \
  MP_HOOK void __tsan_write##size(void *p) {                                   \
    mp::emulator::seen(p, size, true);                                         \
  }                                                                            \
  MP_HOOK void __tsan_unaligned_read##size(void *p) {                          \
    mp::emulator::seen(p, size, false);                                        \
  }                                                                            \
  MP_HOOK void __tsan_unaligned_write##size(void *p) {                         \
    mp::emulator::seen(p, size, true);                                         \
  }
MP_ACCESS_HOOKS(1)
MP_ACCESS_HOOKS(2)
MP_ACCESS_HOOKS(4)
MP_ACCESS_HOOKS(8)
MP_ACCESS_HOOKS(16)
MP_HOOK void __tsan_init() {}
MP_HOOK void __tsan_func_entry(void *) {}
MP_HOOK void __tsan_func_exit() {}
MP_HOOK void __tsan_read_range(void *p, unsigned long size) {
  mp::emulator::seen(p, size, false);
}
MP_HOOK void __tsan_write_range(void *p, unsigned long size) {
  mp::emulator::seen(p, size, true);
}
MP_HOOK void *__tsan_memcpy(void *to, const void *from, unsigned long size) {
  mp::emulator::seen(from, size, false);
  mp::emulator::seen(to, size, true);
  return __builtin_memcpy(to, from, size);
}
MP_HOOK void *__tsan_memmove(void *to, const void *from, unsigned long size) {
  mp::emulator::seen(from, size, false);
  mp::emulator::seen(to, size, true);
  return __builtin_memmove(to, from, size);
}
MP_HOOK void *__tsan_memset(void *to, int value, unsigned long size) {
  mp::emulator::seen(to, size, true);
  return __builtin_memset(to, value, size);
}
#undef MP_ACCESS_HOOKS
#undef MP_HOOK

#endif // MP_EMULATOR_HOOKS_H

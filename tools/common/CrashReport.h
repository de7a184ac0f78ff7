//===- CrashReport.h - what a crash says ----------------------------------===//
#ifndef MP_TOOLS_COMMON_CRASHREPORT_H
#define MP_TOOLS_COMMON_CRASHREPORT_H

namespace mp::tool {

/// From now on a crash, on any thread, ends standard error with a stack trace
/// and the command that makes it again. Takes main's arguments.
void reportCrashes(int argc, char **argv);

} // namespace mp::tool

#endif // MP_TOOLS_COMMON_CRASHREPORT_H

//===- CrashReport.h - the report of a crash ------------------------------===//
#ifndef MP_TOOLS_COMMON_CRASHREPORT_H
#define MP_TOOLS_COMMON_CRASHREPORT_H

namespace mp::tool {

/// Makes a crash, on any thread, end standard error with a stack trace and the
/// command that reproduces it. Takes main's arguments.
void reportCrashes(int argc, char **argv);

} // namespace mp::tool

#endif // MP_TOOLS_COMMON_CRASHREPORT_H

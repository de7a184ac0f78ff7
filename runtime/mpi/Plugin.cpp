//===- Plugin.cpp - the table of MPI's functions --------------------------===//
//
// All of libmantissa-mpi.so. See MpiTable.h.
//
//===----------------------------------------------------------------------===//
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include "runtime/mpi/MpiTable.h"
#include <cstdlib>
#include <mpi.h>
#include <new>

struct mp::MpiGroup {
  MPI_Comm communicator;
  bool endsMpi; ///< as we have initialised it
};

namespace {

using mp::MpiGroup;

static_assert(sizeof(MPI_Request) <= sizeof(mp::MpiRequest));

MPI_Request *native(mp::MpiRequest *request) {
  return reinterpret_cast<MPI_Request *>(request);
}

int initialized(int *flag) { return MPI_Initialized(flag); }

const char *libraryVersion() {
  static char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  return text;
}

void errorText(int code, char *text) {
  static_assert(MPI_MAX_ERROR_STRING <= 512);
  int length = 0;
  MPI_Error_string(code, text, &length);
}

int open(const void *communicator, MpiGroup **group) {
  int done = 0, level = 0;
  if (int code = MPI_Initialized(&done))
    return code;
  if (!done)
    if (int code =
            MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level))
      return code;
  MPI_Comm from = communicator ? *static_cast<const MPI_Comm *>(communicator)
                               : MPI_COMM_WORLD;
  MPI_Comm duplicate;
  if (int code = MPI_Comm_dup(from, &duplicate))
    return code;
  // A failed call is for the runtime to report.
  MPI_Comm_set_errhandler(duplicate, MPI_ERRORS_RETURN);
  *group = new (std::nothrow) MpiGroup{duplicate, !done};
  return *group ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

void describe(MpiGroup *group, int *rank, int *size, mp::MpiThreads *threads) {
  MPI_Comm_rank(group->communicator, rank);
  MPI_Comm_size(group->communicator, size);
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  *threads = level == MPI_THREAD_MULTIPLE     ? mp::MpiThreads::Any
             : level == MPI_THREAD_SERIALIZED ? mp::MpiThreads::One
                                              : mp::MpiThreads::None;
}

int close(MpiGroup *group) {
  int code = MPI_Comm_free(&group->communicator);
  if (group->endsMpi && code == MPI_SUCCESS)
    code = MPI_Finalize();
  delete group;
  return code;
}

void abort(MpiGroup *group, int status) {
  MPI_Abort(group->communicator, status);
}

int send(MpiGroup *group, const void *from, int bytes, int rank, int tag,
         mp::MpiRequest *request) {
  return MPI_Isend(from, bytes, MPI_BYTE, rank, tag, group->communicator,
                   native(request));
}

int receive(MpiGroup *group, void *to, int room, int rank, int tag,
            mp::MpiRequest *request) {
  return MPI_Irecv(to, room, MPI_BYTE, rank, tag, group->communicator,
                   native(request));
}

int allGather(MpiGroup *group, const void *from, int bytes, void *to,
              const int *counts, const int *offsets, mp::MpiRequest *request) {
  return MPI_Iallgatherv(from, bytes, MPI_BYTE, to, counts, offsets, MPI_BYTE,
                         group->communicator, native(request));
}

int broadcast(MpiGroup *group, void *data, int bytes, int root,
              mp::MpiRequest *request) {
  return MPI_Ibcast(data, bytes, MPI_BYTE, root, group->communicator,
                    native(request));
}

int test(mp::MpiRequest *request, int *done) {
  return MPI_Test(native(request), done, MPI_STATUS_IGNORE);
}

int cancel(mp::MpiRequest *request) {
  if (int code = MPI_Cancel(native(request)))
    return code;
  return MPI_Wait(native(request), MPI_STATUS_IGNORE);
}

const mp::MpiTable kTable = {
    initialized, libraryVersion, errorText, open,      describe, close, abort,
    send,        receive,        allGather, broadcast, test,     cancel};

} // namespace

extern "C" __attribute__((visibility("default"))) const mp::MpiTable *
mantissaMpiTable(int version) {
  return version == mp::kMpiTableVersion ? &kTable : nullptr;
}

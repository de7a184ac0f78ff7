//===- MpiTable.h - what the runtime asks of MPI --------------------------===//
//
// MPI's libraries share an interface in C, but neither its types nor the values
// of its constants, so only the plugin libmantissa-mpi.so is compiled against
// mpi.h. It holds nothing of Mantissa, and the runtime calls it through this
// table alone: all that is decided stands in runtime/ranks/.
//
// Functions return MPI's code, 0 for success. Sizes are in bytes. No call
// blocks, but `open` and `close`.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_MPI_MPITABLE_H
#define MP_RUNTIME_MPI_MPITABLE_H

namespace mp {

/// Changes with every change of this file.
inline constexpr int kMpiTableVersion = 2;
/// The function of the plugin that returns the table; null if it has another
/// version.
inline constexpr char kMpiTableFunction[] = "mantissaMpiTable";

/// A duplicate of a communicator; made and freed by the plugin.
struct MpiGroup;

/// Room for an MPI_Request of any implementation.
struct MpiRequest {
  alignas(8) char bytes[8];
};

/// How much of MPI other threads than the first may use.
enum class MpiThreads : int { None, One, Any };

struct MpiTable {
  /// The program has initialised MPI.
  int (*initialized)(int *flag);
  /// MPI's description of itself, for a message and to compare.
  const char *(*libraryVersion)();
  /// Text of a code, in at least 512 bytes.
  void (*errorText)(int code, char *text);

  /// Duplicates `communicator`, an MPI_Comm *, or MPI_COMM_WORLD if it is
  /// null. Initialises MPI, for one thread that calls it, if nobody has.
  int (*open)(const void *communicator, MpiGroup **group);
  void (*describe)(MpiGroup *, int *rank, int *size, MpiThreads *threads);
  /// Frees the duplicate, and ends MPI if `open` has initialised it.
  int (*close)(MpiGroup *);
  /// Ends all processes.
  void (*abort)(MpiGroup *, int status);

  int (*send)(MpiGroup *, const void *from, int bytes, int rank, int tag,
              MpiRequest *);
  int (*receive)(MpiGroup *, void *to, int room, int rank, int tag,
                 MpiRequest *);
  int (*allGather)(MpiGroup *, const void *from, int bytes, void *to,
                   const int *counts, const int *offsets, MpiRequest *);
  int (*broadcast)(MpiGroup *, void *data, int bytes, int root, MpiRequest *);
  /// Lets MPI go on, and tells whether the request has ended and is freed.
  int (*test)(MpiRequest *, int *done);
  /// Cancels a receive and frees it.
  int (*cancel)(MpiRequest *);
};

} // namespace mp

#endif // MP_RUNTIME_MPI_MPITABLE_H

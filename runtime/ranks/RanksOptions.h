//===- RanksOptions.h - how ranks watch and reach each other ----*- C++ -*-===//
#ifndef MP_RUNTIME_RANKS_RANKSOPTIONS_H
#define MP_RUNTIME_RANKS_RANKSOPTIONS_H

#include <cstdint>
#include <string>

namespace mp {

struct RanksOptions {
  /// A rank that does not answer for so long fails the group.
  double deadAfterSeconds = 15;
  /// So does one that answers, is not busy, and for so long does not start a
  /// collective that others wait in.
  double lateAfterSeconds = 25;
  /// Over MPI, larger collectives go in pieces of so many bytes, a multiple of
  /// 16 below 2^31. This bounds what is stored besides the tensors, to three
  /// times that.
  uint64_t pieceBytes = 64 << 20;
  /// The MPI_Comm * of a program that uses MPI itself, and the text of its
  /// MPI_Get_library_version; runtime/mpi/MpiCommunicator.h sets both.
  const void *communicator = nullptr;
  std::string libraryVersion = {};
};

} // namespace mp

#endif // MP_RUNTIME_RANKS_RANKSOPTIONS_H

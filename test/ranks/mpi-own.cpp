//===- mpi-own.cpp - ranks of a program that uses MPI itself --------------===//
//
// mpi-own LEVEL: initialises MPI with a thread level, and makes two groups of
// its processes. MPI still works after that, and ends here.
//
//===----------------------------------------------------------------------===//
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include "runtime/mpi/MpiCommunicator.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace mp;

static void require(bool holds, const char *what) {
  if (holds)
    return;
  llvm::errs() << "FAULT: " << what << "\n";
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/// Sums with the processes of a communicator, in the first message and after
/// it.
static void sumOver(MPI_Comm communicator) {
  auto ranks = openMpiRanks(communicator);
  require(bool(ranks), "a group");
  for (int64_t elements : {3, 5000}) {
    std::vector<float> values(elements, 1.f + (*ranks)->rank());
    require(!run(**ranks, {.elements = {elements}}, {values.data()},
                 {values.data()}),
            "a sum");
    int64_t size = (*ranks)->size();
    for (float value : values)
      require(value == size * (size + 1) / 2, "its value");
  }
}

int main(int argc, char **argv) {
  int level, rank, size;
  MPI_Init_thread(&argc, &argv, argc > 1 ? std::atoi(argv[1]) : 0, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  sumOver(MPI_COMM_WORLD);
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
  sumOver(half);
  MPI_Comm_free(&half);
  int one = 1, all = 0;
  MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  require(all == size, "MPI afterwards");
  MPI_Finalize();
  if (rank == 0)
    llvm::outs() << "done\n";
  return 0;
}

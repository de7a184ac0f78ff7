//===- GroupNest.h - the loop nest of a group, being printed ----*- C++ -*-===//
//
// As on the CPU: outer indices, passes over the inner one, and in them the
// stages' bodies; a value is computed when it is first asked for, at the depth
// that its role gives. Each depth of the nest has a text of its own, which is
// put into that of the next depth out when it is complete.
//
//===----------------------------------------------------------------------===//
#ifndef MP_CODEGEN_CUDA_NEST_GROUPNEST_H
#define MP_CODEGEN_CUDA_NEST_GROUPNEST_H

#include "codegen/cuda/ScalarPrinter.h"
#include "codegen/cuda/nest/GroupShape.h"
#include "codegen/cuda/nest/StageKernel.h"

namespace mp::cuda {

class GroupNest {
public:
  GroupNest(const StageGroup &group, const Arch &arch, StageKernel &kernel);

  llvm::LogicalResult print();

private:
  /// The values computed at one depth.
  struct Scope {
    llvm::DenseMap<mlir::Value, std::string> values;
    SourceText text;
  };
  enum Depth { Top, Line, Lane };

  // The nests.
  void printOnePass();
  void printElements();
  void printChunk();
  bool hasRest() const;
  void openWork();
  void doWork(llvm::StringRef end);
  void printRows();
  void printColumns();
  void printLanes(SourceText &to);
  void passOfLine(unsigned level);
  void openSteps(SourceText &to);
  void closeSteps(SourceText &to);
  void openRows();
  using Results = llvm::SmallVector<std::pair<mlir::Value, std::string>>;
  Results lineResults();
  void storeLine(llvm::StringRef condition);
  bool hasWork(unsigned level) const;
  void work(const Stage &stage);
  void storeLane(mlir::Value tensor, const std::string &at,
                 const std::string &computed);

  // Values.
  Depth depthOf(Space space) const;
  std::string value(mlir::Value tensor);
  std::string load(mlir::Value tensor, Space space, Depth depth);
  std::string buffered(mlir::Value tensor);
  void compute(const Stage &stage, Depth depth);
  std::string element(const Stage &stage, const Reduction &reduction,
                      Depth depth);
  llvm::SmallVector<std::string> arguments(const Stage &stage);
  std::string index(Space space) const;
  std::string place(mlir::Value tensor) const;
  llvm::SmallVector<std::string> loopIndices(Space domain) const;
  std::string columnOfLane() const;
  std::string lane(const std::string &array) const;
  std::string slot() const;
  bool isWide() const { return shape.width > 1; }
  std::string vectorWidth() const;

  // Reductions.
  struct Accumulator {
    const Stage *stage;
    std::string name;
  };
  std::string declareAccumulator(const Stage &stage, SourceText &to);
  void accumulate(const std::string &name, const Stage &stage, Depth depth);
  void finishReductions(llvm::ArrayRef<Accumulator> own);
  void declareTotals();
  void addLineTotals(llvm::StringRef condition);
  void reduceTotals(SourceText &to);
  void storeTotals(const Results &others, SourceText &to);
  void addToSums(const Stage &stage);
  void clearSums(SourceText &to);
  void finishSums(SourceText &to);
  void storeKeptSums(const Stage &stage, const std::string &sums,
                     SourceText &to);
  std::string combined(mlir::Operation *combiner, const std::string &a,
                       const std::string &b);
  std::string combinerLambda(mlir::Operation *combiner);
  std::string withStart(const Stage &stage, const std::string &result);

  const StageGroup &group;
  GroupShape shape;
  StageKernel &kernel;
  ScalarPrinter laneBody, lineBody, topBody;
  Scope scopes[3];
  /// The lines before and after the loop over the lanes of a vector.
  SourceText loads, stores;
  unsigned level = 0;
  bool failed = false;
  llvm::DenseMap<mlir::Value, std::string> keptNames, buffers;
  llvm::DenseMap<const Stage *, std::string> totals, sums;
};

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_NEST_GROUPNEST_H

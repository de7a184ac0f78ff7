//===- GroupReductions.cpp - results over a line, and over all lines ------===//
//
// A chunk of these makes one partial result.
//
//===----------------------------------------------------------------------===//
#include "codegen/cuda/nest/GroupNest.h"

using namespace mlir;
using namespace mp;
using namespace mp::cuda;
using llvm::Twine;

static Type elementOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

static std::string accumulatorType(const Stage &stage) {
  return valueType(elementOf(stage.op->getResult(0)));
}

static std::string neutralOf(const Stage &stage) {
  return printConstant(matchReduction(stage.op)->neutral);
}

std::string GroupNest::combined(Operation *combiner, const std::string &a,
                                const std::string &b) {
  FailureOr<std::string> text = printCombiner(combiner, a, b);
  failed |= llvm::failed(text);
  return llvm::failed(text) ? a : *text;
}

std::string GroupNest::combinerLambda(Operation *combiner) {
  std::string type = valueType(combiner->getResult(0).getType());
  return "[](" + type + " a, " + type + " b) -> " + type + " { return " +
         combined(combiner, "a", "b") + "; }";
}

/// Combines a result with the start value of the reduction.
std::string GroupNest::withStart(const Stage &stage,
                                 const std::string &result) {
  linalg::GenericOp op = stage.op;
  return combined(matchReduction(op)->combiner, value(op.getDpsInits()[0]),
                  result);
}

std::string GroupNest::declareAccumulator(const Stage &stage, SourceText &to) {
  std::string name = kernel.names.fresh("s");
  to.line(accumulatorType(stage) + " " + name + " = " + neutralOf(stage) + ";");
  return name;
}

void GroupNest::accumulate(const std::string &name, const Stage &stage,
                           Depth depth) {
  Reduction reduction = *matchReduction(stage.op);
  std::string next = element(stage, reduction, depth);
  scopes[depth].text.line(name + " = " +
                          combined(reduction.combiner, name, next) + ";");
}

/// Combines the parts of the threads of a line.
void GroupNest::finishReductions(ArrayRef<Accumulator> own) {
  for (const Accumulator &accumulator : own) {
    const Stage &stage = *accumulator.stage;
    std::string type = accumulatorType(stage);
    std::string combine = combinerLambda(matchReduction(stage.op)->combiner);
    std::string total;
    unsigned bytes = storageBytes(elementOf(stage.op->getResult(0)));
    if (group.schedule != LoopSchedule::Columns)
      total = "reduceLine<" + std::to_string(shape.across) + ">(" +
              accumulator.name + ", " + neutralOf(stage) + ", " +
              (shape.across > 32 ? kernel.scratch(32 * bytes) : "nullptr") +
              ", " + combine + ")";
    else if (shape.down > 1)
      total = "reduceColumn<" + std::to_string(shape.down) + ", 32>(" +
              accumulator.name + ", " +
              kernel.scratch(shape.threads() * bytes) + ", " + combine + ")";
    else
      total = accumulator.name;
    SourceText &to = scopes[Line].text;
    to.line(accumulator.name + " = " + total + ";");
    std::string name = kernel.names.fresh("v");
    std::string result = withStart(stage, accumulator.name);
    to.line("const " + type + " " + name + " = " + result + ";");
    scopes[Line].values[stage.op->getResult(0)] = name;
  }
}

//===----------------------------------------------------------------------===//
// One result of a chunk
//===----------------------------------------------------------------------===//

void GroupNest::declareTotals() {
  for (const Stage &stage : group.stages) {
    bool isTotal = shape.onePass ? stage.reduction : stage.terminal;
    if (isTotal && !isRowOfSums(group, stage))
      totals[&stage] = declareAccumulator(stage, scopes[Top].text);
  }
}

/// Adds the values that a line has once, by one of its threads.
void GroupNest::addLineTotals(StringRef condition) {
  for (const Stage &stage : group.stages) {
    if (!totals.contains(&stage) || group.role(stage.domain) != Role::Outer)
      continue;
    Reduction reduction = *matchReduction(stage.op);
    std::string next = element(stage, reduction, Line);
    std::string name = totals.lookup(&stage);
    scopes[Line].text.line("if (" + condition + ")");
    scopes[Line].text.line("  " + name + " = " +
                           combined(reduction.combiner, name, next) + ";");
  }
}

/// Combines the parts of the threads of a block.
void GroupNest::reduceTotals(SourceText &to) {
  for (const Stage &stage : group.stages) {
    if (!totals.contains(&stage))
      continue;
    Value result = stage.op->getResult(0);
    std::string &name = totals[&stage];
    unsigned bytes = storageBytes(elementOf(result));
    to.line(name + " = reduceLine<" + Twine(shape.threads()) + ">(" + name +
            ", " + neutralOf(stage) + ", " +
            (shape.threads() > 32 ? kernel.scratch(32 * bytes) : "nullptr") +
            ", " + combinerLambda(matchReduction(stage.op)->combiner) + ");");
    if (group.chunks() == 1 && !startsNeutral(stage.op))
      name = withStart(stage, name);
    if (!stage.terminal)
      scopes[Line].values[result] = name;
  }
}

/// Stores the totals, and `others` that a block has once.
void GroupNest::storeTotals(const Results &others, SourceText &to) {
  Results results;
  for (const Stage &stage : group.stages)
    if (Value result = stage.op->getResult(0);
        totals.contains(&stage) && group.stores(result))
      results.emplace_back(result, totals.lookup(&stage));
  if (results.empty() && others.empty())
    return;
  to.open("if (thread == 0)");
  for (auto &[tensor, computed] : results)
    to.line(kernel.memory(tensor) + ".store(block, " + computed + ");");
  for (auto &[tensor, computed] : others)
    if (!totals.contains(group.producer(tensor)))
      to.line(kernel.memory(tensor) + ".store(0, " + computed + ");");
  to.close();
}

//===----------------------------------------------------------------------===//
// A row of sums of a chunk
//===----------------------------------------------------------------------===//

/// Adds one element of each row: in registers, or else in the partial result
/// itself, each element of which belongs to one thread.
void GroupNest::addToSums(const Stage &stage) {
  Reduction reduction = *matchReduction(stage.op);
  std::string next = element(stage, reduction, Lane);
  std::string sum;
  if (shape.unrolled) {
    sum = lane(sums.lookup(&stage) + "[" + slot() + "]");
  } else {
    std::string memory = kernel.memory(stage.op->getResult(0));
    std::string type = storageType(elementOf(stage.op->getResult(0)));
    std::string place = "block * " + std::to_string(group.columns) +
                        (kernel.indexType() == "int" ? "" : "ll") + " + column";
    std::string name = kernel.names.fresh("y");
    loads.line((isWide() ? "auto " : type + " ") + name + " = " +
               (isWide() ? "loadItems<" + std::to_string(shape.width) + ">(" +
                               memory + ", " + place + ")"
                         : memory + ".load(" + place + ")") +
               ";");
    stores.line(isWide()
                    ? "storeItems(" + memory + ", " + place + ", " + name + ");"
                    : memory + ".store(" + place + ", " + name + ");");
    sum = lane(name);
  }
  scopes[Lane].text.line(sum + " = " + combined(reduction.combiner, sum, next) +
                         ";");
}

/// Makes sums start as neutral, or those in memory as the start value if no
/// later stage adds it.
void GroupNest::clearSums(SourceText &to) {
  for (const Stage &stage : group.stages) {
    if (!isRowOfSums(group, stage))
      continue;
    std::string name = kernel.names.fresh("c");
    sums[&stage] = name;
    linalg::GenericOp op = stage.op;
    if (shape.unrolled) {
      to.line(accumulatorType(stage) + " " + name + "[" + Twine(shape.steps) +
              "]" + (isWide() ? "[" + Twine(shape.width) + "]" : "") + ";");
      openSteps(to);
      scopes[Lane].text.line(lane(name + "[" + slot() + "]") + " = " +
                             neutralOf(stage) + ";");
    } else {
      std::string start =
          group.chunks() == 1 ? value(op.getDpsInits()[0]) : neutralOf(stage);
      openSteps(to);
      to.line("const " + kernel.indexType() + " at = block * " +
              Twine(group.columns) + " + column;");
      storeLane(op->getResult(0), "at", start);
    }
    printLanes(to);
    closeSteps(to);
  }
}

void GroupNest::finishSums(SourceText &to) {
  for (const Stage &stage : group.stages)
    if (isRowOfSums(group, stage) && shape.unrolled)
      storeKeptSums(stage, sums.lookup(&stage), to);
}

/// Combines the sums of groups of threads that had different rows in shared
/// memory; the first group stores them.
void GroupNest::storeKeptSums(const Stage &stage, const std::string &name,
                              SourceText &to) {
  linalg::GenericOp op = stage.op;
  std::string type = accumulatorType(stage),
              columns = Twine(group.columns).str();
  std::string own = lane(name + "[" + slot() + "]");
  std::string parts = kernel.names.fresh("parts");
  SourceText &each = scopes[Lane].text;
  if (shape.down > 1) {
    std::string area =
        kernel.scratch((shape.down - 1) * group.columns *
                       storageBytes(elementOf(op->getResult(0))));
    to.line(type + " *" + parts + " = reinterpret_cast<" + type + " *>(" +
            area + ");");
    to.open("if (group > 0)");
    openSteps(to);
    each.line(parts + "[(group - 1) * " + columns + " + " + columnOfLane() +
              "] = " + own + ";");
    printLanes(to);
    closeSteps(to);
    to.close();
    to.line("barrier();");
    to.open("if (group == 0)");
  }
  openSteps(to);
  to.line("const " + kernel.indexType() + " at = block * " + columns +
          (kernel.indexType() == "int" ? "" : "ll") + " + column;");
  Operation *combiner = matchReduction(op)->combiner;
  if (shape.down > 1) {
    each.line("#pragma unroll");
    each.line("for (int other = 0; other < " + Twine(shape.down - 1) +
              "; ++other)");
    each.line(
        "  " + own + " = " +
        combined(combiner, own,
                 parts + "[other * " + columns + " + " + columnOfLane() + "]") +
        ";");
  }
  storeLane(op->getResult(0), "at",
            group.chunks() == 1 ? withStart(stage, own) : own);
  printLanes(to);
  closeSteps(to);
  if (shape.down > 1) {
    to.close();
    to.line("barrier();");
  }
}

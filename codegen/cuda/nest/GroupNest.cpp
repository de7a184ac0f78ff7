//===- GroupNest.cpp - the loops of a group -------------------------------===//
#include "codegen/cuda/nest/GroupNest.h"
#include "codegen/cuda/nest/GroupPrinter.h"

using namespace mlir;
using namespace mp;
using namespace mp::cuda;
using llvm::Twine;

GroupNest::GroupNest(const StageGroup &group, const Arch &arch,
                     StageKernel &kernel)
    : group(group), shape(group, arch), kernel(kernel),
      laneBody(scopes[Lane].text, kernel.names),
      lineBody(scopes[Line].text, kernel.names),
      topBody(scopes[Top].text, kernel.names) {
  int64_t elements = group.rows * group.columns;
  for (const auto &[tensor, space] : group.spaces)
    elements = std::max(elements, extentOf(tensor));
  kernel.setIndexBound(elements + (group.hasTerminals() ? group.chunk() : 0) +
                       shape.threads() * shape.width *
                           std::max<int64_t>(shape.steps, 1));
  kernel.block = shape.threads();
  kernel.grid = group.hasTerminals() ? group.chunks() : 1;
}

LogicalResult GroupNest::print() {
  kernel.body.line("const int thread = threadIdx.x;");
  if (shape.onePass)
    printOnePass();
  else if (group.schedule == LoopSchedule::Columns)
    printColumns();
  else
    printRows();
  return failure(failed);
}

static std::string number(int64_t value, StringRef type) {
  return std::to_string(value) + (type == "int" ? "" : "ll");
}

//===----------------------------------------------------------------------===//
// Elements of a line
//===----------------------------------------------------------------------===//

void GroupNest::printOnePass() {
  declareTotals();
  for (const Stage &stage : group.stages) {
    if (totals.contains(&stage))
      accumulate(totals.lookup(&stage), stage, Lane);
    else
      for (Value result : stage.op->getResults())
        if (group.stores(result) && depthOf(stage.domain) == Lane)
          storeLane(result, "at", value(result));
  }
  SourceText &line = scopes[Line].text;
  SourceText before = std::exchange(line, SourceText()), tail;
  reduceTotals(tail);
  Results results = lineResults();

  SourceText &body = kernel.body;
  body.append(scopes[Top].text);
  body.append(before);
  if (totals.empty())
    printElements();
  else
    printChunk();
  body.append(tail);
  if (!line.empty()) { // its operands may lie where the results will
    body.append(line);
    body.line("waitForLine<" + Twine(shape.across) + ">();");
  }
  storeTotals(results, body);
}

/// Prints a vector of elements for each thread.
void GroupNest::printElements() {
  std::string index = kernel.indexType();
  int64_t unit = shape.threads() * shape.width;
  kernel.grid = llvm::divideCeil(group.columns, unit);
  kernel.counts = {{"count", group.columns}};
  SourceText &body = kernel.body;
  openWork();
  body.line("const " + index + " at = block * " + number(unit, index) +
            " + thread * " + Twine(shape.width) + ";");
  doWork("count");
}

/// Prints `chunk` elements for each block: all of them, if it is the only one.
void GroupNest::printChunk() {
  std::string index = kernel.indexType();
  kernel.counts = {{"count", group.columns},
                   {"chunk", group.hasTerminals()
                                 ? std::min(group.chunk(), group.columns)
                                 : group.columns}};
  SourceText &body = kernel.body;
  openWork();
  body.line("const " + index + " first = block * chunk;");
  body.line("const " + index +
            " end = first + chunk < count ? first + chunk : count;");
  body.open("for (" + index + " at = first + thread * " + Twine(shape.width) +
            "; at < end; at += " + Twine(shape.threads() * shape.width) + ")");
  doWork("end");
  body.close();
}

/// Whether a vector may reach past the last element of a line or of a chunk.
bool GroupNest::hasRest() const {
  return group.columns % shape.width ||
         (group.hasTerminals() && group.chunk() % shape.width);
}

/// Opens a function for the work on `n` elements from `at` on, if that is
/// needed twice: for vectors, and for the elements that are left.
void GroupNest::openWork() {
  if (!hasRest())
    return;
  SourceText &body = kernel.body;
  body.open("auto work = [&](auto width, " + kernel.indexType() + " at)");
  body.line("constexpr int n = width.value;");
  printLanes(body);
  body.close("};");
}

void GroupNest::doWork(StringRef end) {
  SourceText &body = kernel.body;
  if (!hasRest()) {
    body.open("if (at < " + end + ")");
    if (isWide())
      body.line("constexpr int n = " + Twine(shape.width) + ";");
    printLanes(body);
    body.close();
    return;
  }
  body.line("if (at + " + Twine(shape.width) + " <= " + end + ")");
  body.line("  work(Width<" + Twine(shape.width) + ">(), at);");
  body.line("else");
  body.line("  for (" + kernel.indexType() + " i = at; i < " + end + "; ++i)");
  body.line("    work(Width<1>(), i);");
}

/// Prints loads, computation and stores: nothing is stored before all is
/// computed, so that a result may take the place of an operand.
void GroupNest::printLanes(SourceText &to) {
  to.append(loads);
  if (isWide() && !scopes[Lane].text.empty()) {
    to.line("#pragma unroll");
    to.open("for (int j = 0; j < " + vectorWidth() + "; ++j)");
    to.append(scopes[Lane].text);
    to.close();
  } else {
    to.append(scopes[Lane].text);
  }
  to.append(stores);
  loads = stores = SourceText();
  scopes[Lane].text = SourceText();
  scopes[Lane].values.clear();
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

void GroupNest::printRows() {
  declareTotals();
  SourceText clear, tail;
  clearSums(clear);
  for (level = 0; level < group.levels(); ++level)
    passOfLine(level);
  addLineTotals("lane == 0");
  storeLine("lane == 0");
  reduceTotals(tail);
  storeTotals({}, tail);
  finishSums(tail);

  SourceText &body = kernel.body;
  if (shape.down > 1) {
    body.line("const int lane = thread % 32;");
    body.line("const int group = thread / 32;");
  } else {
    body.line("const int lane = thread;");
  }
  body.append(scopes[Top].text);
  body.append(clear);
  openRows();
  body.append(scopes[Line].text);
  if (group.schedule != LoopSchedule::Whole && group.hasTerminals())
    body.close();
  body.append(tail);
}

void GroupNest::openRows() {
  SourceText &body = kernel.body;
  if (group.schedule == LoopSchedule::Whole)
    return;
  std::string index = kernel.indexType(), down = std::to_string(shape.down);
  std::string rows = number(group.rows, index);
  if (group.hasTerminals()) {
    std::string chunk = number(group.chunk(), index);
    body.line("const " + index + " first = block * " + chunk + ";");
    body.line("const " + index + " end = first + " + chunk + " < " + rows +
              " ? first + " + chunk + " : " + rows + ";");
    body.open("for (" + index + " row = first" +
              (shape.down > 1 ? " + group" : "") +
              "; row < end; row += " + down + ")");
    return;
  }
  kernel.grid = llvm::divideCeil(group.rows, shape.down);
  body.line("const " + index + " row = " +
            (shape.down > 1
                 ? "block * " + number(shape.down, index) + " + group"
                 : std::string("block")) +
            ";");
  if (group.rows % shape.down != 0) {
    body.line("if (row >= " + rows + ")");
    body.line("  return;");
  }
}

/// Opens the loop of a line's threads from its begin to its end.
void GroupNest::openSteps(SourceText &to) {
  int64_t columns = group.columns, line = shape.across * shape.width;
  std::string index = kernel.indexType();
  std::string width =
      isWide() ? " * " + std::to_string(shape.width) : std::string();
  if (shape.unrolled) {
    if (shape.steps > 1) {
      to.line("#pragma unroll");
      to.open("for (int k = 0; k < " + Twine(shape.steps) + "; ++k)");
      to.line("const " + index + " column = (k * " + Twine(shape.across) +
              " + lane)" + width + ";");
    } else {
      to.open("");
      to.line("const " + index + " column = lane" + width + ";");
    }
    if (shape.steps * line != columns)
      to.open("if (column < " + Twine(columns) + ")");
  } else {
    // Single elements want several loads on their way.
    if (!isWide())
      to.line(columns / line >= 32 ? "#pragma unroll 16" : "#pragma unroll 4");
    to.open("for (" + index + " column = lane" + width + "; column < " +
            Twine(columns) + "; column += " + Twine(line) + ")");
  }
}

void GroupNest::closeSteps(SourceText &to) {
  if (shape.unrolled &&
      shape.steps * shape.across * shape.width != group.columns)
    to.close();
  to.close();
}

bool GroupNest::hasWork(unsigned level) const {
  return llvm::any_of(group.stages, [&](const Stage &stage) {
    return group.isWorkOf(stage, level);
  });
}

/// Prints one pass over the elements of a line: along a row, or down a column.
void GroupNest::passOfLine(unsigned level) {
  if (!hasWork(level))
    return;
  SmallVector<Accumulator> own;
  for (const Stage &stage : group.stages) {
    if (!group.isWorkOf(stage, level))
      continue;
    if (!stage.reduction || stage.terminal) {
      work(stage);
      continue;
    }
    own.push_back({&stage, declareAccumulator(stage, scopes[Line].text)});
    accumulate(own.back().name, stage, Lane);
  }
  SourceText &to = scopes[Line].text;
  bool isColumn = group.schedule == LoopSchedule::Columns;
  if (isColumn)
    to.open("for (" + kernel.indexType() + " row = group; inside && row < " +
            Twine(group.rows) + "; row += " + Twine(shape.down) + ")");
  else
    openSteps(to);
  if (group.schedule != LoopSchedule::Whole)
    to.line("const " + kernel.indexType() + " at = row * " +
            Twine(group.columns) + " + column;");
  printLanes(to);
  isColumn ? to.close() : closeSteps(to);
  finishReductions(own);
}

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

void GroupNest::printColumns() {
  std::string index = kernel.indexType();
  declareTotals();
  for (level = 0; level < group.levels(); ++level)
    passOfLine(level);
  std::string first = shape.down > 1 ? "inside && group == 0" : "inside";
  addLineTotals(first);
  storeLine(first);
  SourceText tail;
  reduceTotals(tail);
  storeTotals({}, tail);

  SourceText &body = kernel.body;
  body.line("const int lane = thread % 32;");
  body.line("const int group = thread / 32;");
  body.append(scopes[Top].text);
  if (group.hasTerminals()) {
    std::string chunk = number(group.chunk(), index);
    body.line("const " + index + " first = block * " + chunk + ";");
    body.open("for (" + index + " strip = first; strip < first + " + chunk +
              " && strip < " + Twine(group.columns) + "; strip += 32)");
    body.line("const " + index + " column = strip + lane;");
  } else {
    kernel.grid = llvm::divideCeil(group.columns, 32);
    body.line("const " + index + " column = block * " + number(32, index) +
              " + lane;");
  }
  body.line("const bool inside = column < " + Twine(group.columns) + ";");
  body.append(scopes[Line].text);
  if (group.hasTerminals())
    body.close();
  body.append(tail);
}

//===----------------------------------------------------------------------===//
// Rows and columns
//===----------------------------------------------------------------------===//

/// Prints the work of a pass for a stage that is not a reduction of the line.
void GroupNest::work(const Stage &stage) {
  if (stage.terminal) {
    if (isRowOfSums(group, stage))
      addToSums(stage);
    else
      accumulate(totals.lookup(&stage), stage, Lane);
    return;
  }
  for (Value result : stage.op->getResults()) {
    std::string computed = value(result);
    if (group.stores(result))
      storeLane(result, place(result), computed);
    if (stage.buffered)
      scopes[Lane].text.line(buffered(result) + " = " + computed + ";");
  }
}

/// Returns the results that belong to the line.
GroupNest::Results GroupNest::lineResults() {
  Results results;
  for (Value output : group.outputs)
    if (const Stage *stage = group.producer(output);
        !stage->terminal && depthOf(group.spaces.lookup(output)) == Line)
      results.emplace_back(output, value(output));
  return results;
}

/// Stores the line's results once all threads of the line have read their
/// operands.
void GroupNest::storeLine(StringRef condition) {
  Results results = lineResults();
  if (results.empty())
    return;
  SourceText &to = scopes[Line].text;
  bool wholeBlock = group.schedule == LoopSchedule::Columns;
  to.line("waitForLine<" + Twine(wholeBlock ? shape.threads() : shape.across) +
          ">();");
  to.open("if (" + condition + ")");
  for (auto &[tensor, computed] : results)
    to.line(kernel.memory(tensor) + ".store(" + place(tensor) + ", " +
            computed + ");");
  to.close();
}

LogicalResult mp::cuda::printGroup(const StageGroup &group, const Arch &arch,
                                   StageKernel &kernel) {
  return GroupNest(group, arch, kernel).print();
}

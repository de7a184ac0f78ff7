//===- Scan.cpp - loops over time steps -----------------------------------===//
#include "dialect/ops/Scan.h"
#include "dialect/ops/Kernel.h"
#include "dsl/GraphState.h"

using namespace mlir;

namespace mantissa {

static bool acceptAll(GraphState &state, const std::vector<Tensor> &tensors,
                      Place place) {
  return llvm::all_of(tensors, [&](const Tensor &tensor) {
    return state.accept(tensor, place);
  });
}

/// What a scan returns after a mistake: as many tensors as it would, which are
/// none.
static Scanned noneOf(GraphState &state, size_t carried, size_t stacked) {
  return {std::vector<Tensor>(carried, state.none()),
          std::vector<Tensor>(stacked, state.none())};
}

/// The same where the body cannot be built: it says how much it stacks, of
/// tensors that are none.
static Scanned noneOf(GraphState &state, size_t carried, size_t over,
                      const Graph::TimeStep &body) {
  auto [before, slices] = noneOf(state, carried, over);
  return noneOf(state, carried, body(before, slices).stacked.size());
}

namespace {
/// A loop under construction.
class Loop {
public:
  Loop(GraphState &state, const Operands &carried, const Operands &over,
       const Scan &how)
      : state(state), carried(GraphState::valuesOf(carried.tensors)),
        over(GraphState::valuesOf(over.tensors)), how(how),
        place(carried.place) {}

  Scanned build(const Graph::TimeStep &body) {
    // Variables that the body names first are read after this op, and before
    // the one that takes its region.
    mp::ScanOp draft = create({});
    OpBuilder::InsertionGuard guard(state.builder);
    if (!verifies(draft)) {
      refuse(draft);
      return noneOf(state, carried.size(), over.size(), body);
    }
    state.builder.setInsertionPointToStart(addBlock(draft));
    size_t before = state.mistakes.size();
    Scanned step = callBody(draft, body), result;
    if (state.mistakes.size() == before && carriesOn(step) &&
        acceptAll(state, step.stacked, place))
      result = finish(draft, step);
    refuse(draft);
    bool isMade = state.mistakes.size() == before;
    return isMade ? result : noneOf(state, carried.size(), step.stacked.size());
  }

private:
  mp::ScanOp create(TypeRange types) {
    auto optional = [&](std::optional<int64_t> number) {
      return number ? state.builder.getI64IntegerAttr(*number) : IntegerAttr();
    };
    return mp::ScanOp::create(
        state.builder, state.locate(place), types, carried, over,
        state.builder.getI64IntegerAttr(how.dim), optional(how.steps),
        how.reverse ? state.builder.getUnitAttr() : UnitAttr(),
        optional(how.unroll));
  }

  /// Checks what the loop runs over; a mistake if it cannot.
  bool verifies(mp::ScanOp scan) {
    return state.attempt(place, "", [&] { return scan.verify(); });
  }

  Block *addBlock(mp::ScanOp scan) {
    Block *block = new Block;
    scan.getBody().push_back(block);
    for (Value value : carried)
      block->addArgument(value.getType(), value.getLoc());
    for (Value value : over)
      block->addArgument(scan.sliceOf(mp::tensorType(value)), value.getLoc());
    return block;
  }

  Scanned callBody(mp::ScanOp scan, const Graph::TimeStep &body) {
    std::vector<Tensor> before, slices;
    for (BlockArgument argument : scan.getBody().getArguments())
      (argument.getArgNumber() < carried.size() ? before : slices)
          .push_back(state.wrap(argument));
    return body(before, slices);
  }

  /// Whether the step carries on what it got; a mistake if not.
  bool carriesOn(const Scanned &step) {
    if (!acceptAll(state, step.carried, place))
      return false;
    if (step.carried.size() != carried.size())
      return bool(state.mistake("the scan carries " + Twine(carried.size()) +
                                    " values, and its time step returns " +
                                    Twine(step.carried.size()),
                                place));
    for (auto [tensor, value] : llvm::zip_equal(step.carried, carried))
      if (GraphState::valueOf(tensor).getType() != value.getType())
        return bool(
            state.mistake("the scan carries " + typeText(value.getType()) +
                              ", and its time step returns " + tensor.type() +
                              ": a carried value keeps its type",
                          place));
    return true;
  }

  /// Makes the op with the body of the draft.
  Scanned finish(mp::ScanOp draft, const Scanned &step) {
    SmallVector<Value> yielded = GraphState::valuesOf(step.carried);
    SmallVector<Type> types(ValueRange(yielded).getTypes());
    for (Value value : GraphState::valuesOf(step.stacked)) {
      Type type = draft.stackOf(mp::tensorType(value));
      if (!type) {
        state.mistake("the scan cannot stack " + typeText(value.getType()) +
                          " along dimension " + Twine(how.dim),
                      place);
        return {};
      }
      yielded.push_back(value);
      types.push_back(type);
    }
    mp::YieldOp::create(state.builder, state.locate(place), yielded);
    state.builder.setInsertionPointToEnd(draft->getBlock());
    mp::ScanOp scan = create(types);
    scan.getBody().takeBody(draft.getBody());
    if (!state.attempt(place, "", [&] {
          return success(succeeded(scan.verifyRegions()) &&
                         succeeded(state.inferMultiples(scan)));
        }))
      return {};
    Scanned result;
    for (OpResult value : scan.getResults())
      (value.getResultNumber() < carried.size() ? result.carried
                                                : result.stacked)
          .push_back(state.wrap(value));
    return result;
  }

  /// Removes the draft; what is left in it is of no use, but the user may have
  /// its values.
  void refuse(mp::ScanOp draft) {
    if (draft.getBody().empty())
      return draft.erase();
    draft->dropAllReferences();
    draft->remove();
    state.refused.emplace_back(draft);
  }

  GraphState &state;
  SmallVector<Value> carried, over;
  Scan how;
  Place place;
};
} // namespace

Scanned Graph::scan(const Operands &carried, const Operands &over,
                    const Scan &how, const TimeStep &body) {
  if (!acceptAll(*state, carried.tensors, carried.place) ||
      !acceptAll(*state, over.tensors, over.place))
    return noneOf(*state, carried.tensors.size(), over.tensors.size(), body);
  return Loop(*state, carried, over, how).build(body);
}

} // namespace mantissa

//===- StepState.cpp - the variables of a step ----------------------------===//
#include "api/run/StepImpl.h"
#include "program/Names.h"
#include "runtime/train/CheckpointWeights.h"
#include "runtime/train/WholeSession.h"
#include "support/Error.h"
#include "support/Number.h"
#include "support/Spelling.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace llvm;

namespace mantissa {

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

Expected<const mp::Variable *> Step::Impl::find(StringRef name) const {
  std::vector<std::string> known;
  for (const mp::Variable &variable : model->session().variables()) {
    if (variable.name == name)
      return &variable;
    known.push_back(variable.name);
  }
  return mp::makeError("there is no variable '{0}'{1}", name,
                       mp::suggest(name, known));
}

std::vector<TensorInfo> Step::variables() const {
  std::vector<TensorInfo> infos;
  for (const mp::Variable &variable : impl->model->session().variables())
    infos.push_back({variable.name, variable.wholeType(),
                     mp::variableKindName(variable.kind).str()});
  return infos;
}

Expected<TensorType> Step::typeOf(StringRef name) const {
  auto variable = impl->find(name);
  if (!variable)
    return variable.takeError();
  return (*variable)->wholeType();
}

Error Step::readInto(StringRef name, ElementType element, void *data,
                     uint64_t bytes) {
  Impl::Lock lock(*impl);
  if (Error error = lock.take())
    return error;
  auto variable = impl->find(name);
  if (!variable)
    return variable.takeError();
  const TensorType &type = (*variable)->wholeType();
  if (type.element != element)
    return mp::makeError("variable '{0}' is {1}, and was asked for as {2}",
                         name, type.str(), mp::elementTypeName(element));
  if (bytes != type.bytes() || (!data && bytes))
    return mp::makeError("variable '{0}' is {1}, which takes {2} bytes; the "
                         "memory for it has {3}",
                         name, type.str(), type.bytes(), data ? bytes : 0);
  mp::WholeSession whole(impl->model->session(), impl->model->ranks());
  if (Error error = whole.gather(**variable))
    return error;
  return whole.read(name, {static_cast<char *>(data), bytes});
}

Error Step::write(StringRef name, const TensorRef &tensor) {
  Impl::Lock lock(*impl);
  if (Error error = lock.take())
    return error;
  auto variable = impl->find(name);
  if (!variable)
    return variable.takeError();
  if ((*variable)->kind == mp::VariableKind::Derived)
    return mp::makeError("variable '{0}' is computed from another one: write "
                         "that one",
                         name);
  if (Error error = tensor.check(name, (*variable)->wholeType()))
    return error;
  mp::WholeSession whole(impl->model->session(), impl->model->ranks());
  if (Error error = whole.write(name, tensor.view().bytes()))
    return error;
  return whole.derive();
}

Error Step::initialize(uint64_t seed) {
  Impl::Lock lock(*impl);
  if (Error error = lock.take())
    return error;
  mp::RunState &state = impl->state;
  state.seed = seed;
  state.step = state.skippedSteps = 0;
  impl->lastWasSkipped = false;
  return impl->model->session().initialize(seed);
}

//===----------------------------------------------------------------------===//
// Learning rate
//===----------------------------------------------------------------------===//

static Error cannotSteer(StringRef recipe) {
  return mp::makeError("the learning rate of '{0}' is fixed: its Program was "
                       "compiled without variables for it",
                       recipe);
}

Error Step::Impl::writeNumber(StringRef suffix, double value) {
  std::string name = recipe + suffix.str();
  if (auto known = find(name); !known) {
    consumeError(known.takeError());
    return cannotSteer(recipe);
  }
  float number = value;
  return model->session().write(
      name, {reinterpret_cast<const char *>(&number), sizeof number});
}

Expected<double> Step::Impl::readNumber(StringRef suffix) {
  std::string name = recipe + suffix.str();
  if (auto known = find(name); !known) {
    consumeError(known.takeError());
    return cannotSteer(recipe);
  }
  float number = 0;
  if (Error error = model->session().read(
          name, {reinterpret_cast<char *>(&number), sizeof number}))
    return error;
  return number;
}

/// Fails unless f32 holds a learning rate or a factor.
static Error checkRate(StringRef what, double value) {
  if (value >= 0 && std::isfinite(static_cast<float>(value)))
    return Error::success();
  return mp::makeError("{0} is {1}, expected a finite number from 0 on", what,
                       mp::shortestDecimal(value));
}

Error Step::setLearningRate(double rate) {
  Impl::Lock lock(*impl);
  if (Error error = lock.take())
    return error;
  if (Error error = checkRate("the learning rate", rate))
    return error;
  if (Error error = impl->writeNumber(mp::kLearningRateVariable, rate))
    return error;
  return impl->writeNumber(mp::kLearningRateFactorVariable, 1);
}

Error Step::scaleLearningRate(double factor) {
  Impl::Lock lock(*impl);
  if (Error error = lock.take())
    return error;
  auto before = impl->readNumber(mp::kLearningRateFactorVariable);
  if (!before)
    return before.takeError();
  double product = *before * factor;
  if (Error error = checkRate("the factor of the learning rate", product))
    return error;
  return impl->writeNumber(mp::kLearningRateFactorVariable, product);
}

Error Step::resetLearningRate() {
  Impl::Lock lock(*impl);
  if (Error error = lock.take())
    return error;
  if (Error error = impl->writeNumber(mp::kLearningRateVariable, -1))
    return error;
  return impl->writeNumber(mp::kLearningRateFactorVariable, 1);
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

Error Step::save(StringRef path) {
  Impl::Lock lock(*impl);
  if (Error error = lock.take())
    return error;
  // Rank 0 writes what all have.
  mp::Communicator *ranks = impl->model->ranks();
  mp::WholeSession whole(impl->model->session(), ranks);
  if (Error error = whole.gather())
    return error;
  return ranks && ranks->rank() != 0
             ? Error::success()
             : mp::saveCheckpoint(path, whole, impl->state);
}

template <typename T> static std::string inQuotes(const T &value) {
  if constexpr (std::is_floating_point_v<T>)
    return "'" + mp::shortestDecimal(value) + "'";
  else
    return formatv("'{0}'", value);
}

Error Step::Impl::checkSettings(const mp::RunState &other) const {
  std::vector<std::string> differences;
  // A setting with its default was left to the recipe.
  auto compare = [&]<typename T>(StringRef name, const T &there,
                                 const T &here) {
    if (there == here)
      return;
    std::string made = there == T() ? "the recipe's " + name.str()
                                    : name.str() + " " + inQuotes(there);
    differences.push_back(made + " instead of " +
                          (here == T() ? "the recipe's" : inQuotes(here)));
  };
  mp::forEachSetting([&](const mp::SettingInfo &setting, auto field) {
    if (setting.onResume == mp::OnResume::MustAgree)
      compare(setting.name, other.*field, state.*field);
  });
  if (other.batch != state.batch)
    differences.push_back("batch " + inQuotes(other.batch) + " instead of " +
                          inQuotes(state.batch));
  if (differences.empty())
    return Error::success();
  return mp::makeError("was made with {0}: it cannot be continued with the "
                       "same bits; its weights alone can be loaded",
                       join(differences, ", "));
}

Error Step::load(StringRef path) {
  Impl::Lock lock(*impl);
  if (Error error = lock.take())
    return error;
  auto checkpoint = mp::Checkpoint::open(path);
  if (!checkpoint)
    return checkpoint.takeError();
  const mp::RunState &there = checkpoint->state();
  if (Error error = impl->checkSettings(there))
    return mp::makeError("{0} {1}", path, toString(std::move(error)));
  mp::WholeSession whole(impl->model->session(), impl->model->ranks());
  if (Error error = checkpoint->checkVariables(whole))
    return error;
  if (Error error =
          checkpoint->checkGraph(impl->state.module, impl->state.graph))
    return mp::makeError("{0}\n  its weights alone can be loaded",
                         toString(std::move(error)));
  auto changed = checkpoint->restore(whole);
  if (!changed)
    return changed.takeError();
  impl->lastWasSkipped = false;
  impl->state.seed = there.seed;
  impl->state.step = there.step;
  impl->state.skippedSteps = there.skippedSteps;
  impl->state.lastScale = there.lastScale;
  return Error::success();
}

Error Step::loadWeights(StringRef path) {
  Impl::Lock lock(*impl);
  if (Error error = lock.take())
    return error;
  mp::WholeSession whole(impl->model->session(), impl->model->ranks());
  return mp::loadWeights(path, whole, mp::Weights::Initial);
}

} // namespace mantissa

//===- Comparison.cpp - run the variants, and measure their steps ---------===//
#include "tools/diff/Comparison.h"
#include "runtime/Checkpoint.h"
#include "runtime/Device.h"
#include "runtime/Error.h"
#include "tools/common/Step.h"
#include "llvm/ADT/StringSet.h"
#include <mutex>

using namespace llvm;

namespace mp::tool {

int64_t Side::firstBeyond() const {
  for (const auto &[number, difference] : differences)
    if (difference.value && difference.value->beyond)
      return number;
  return 0;
}

int64_t Side::firstGradientBeyond() const {
  for (const auto &[number, difference] : llvm::reverse(differences))
    if (difference.gradient && difference.gradient->beyond)
      return number;
  return 0;
}

namespace {

/// Says a line once, whichever variant it comes from.
std::function<void(StringRef)> noteOnce() {
  struct Said {
    std::mutex mutex;
    StringSet<> lines;
  };
  return [said = std::make_shared<Said>()](StringRef line) {
    std::lock_guard lock(said->mutex);
    if (said->lines.insert(line).second)
      note(line);
  };
}

class Comparer {
public:
  Comparer(const DiffOptions &options)
      : options(options), tell(noteOnce()),
        compiler(options.common.compiler()) {}

  Expected<Comparison> run() {
    auto subject =
        readSubject(options.module, options.function, options.batch, tell);
    if (!subject)
      return subject.takeError();
    comparison.subject = std::move(*subject);
    if (Error error = addSides())
      return std::move(error);
    if (Error error = prepare())
      return std::move(error);
    if (Error error = compareNumbers())
      return std::move(error);
    if (Error error = measureSteps())
      return std::move(error);
    return std::move(comparison);
  }

private:
  Error addSides() {
    if (options.policies.size() == 1)
      addSide(plainSetting());
    for (StringRef text : options.policies) {
      auto setting =
          parseSetting(text, options.common.precision, comparison.subject);
      if (!setting)
        return setting.takeError();
      addSide(std::move(*setting));
    }
    return Error::success();
  }

  void addSide(Setting setting) {
    Side &side = comparison.sides.emplace_back();
    side.setting = std::move(setting);
    side.tolerance = options.tolerance.value_or(32 * side.setting.roundoff());
  }

  //===--------------------------------------------------------------------===//
  // Numbers
  //===--------------------------------------------------------------------===//

  /// What no policy can be is found out before anything runs.
  Error prepare() {
    if (auto choice = chooseDevice(options.common.device); !choice)
      return choice.takeError();
    for (Side &side : comparison.sides) {
      auto made = makeVariant(comparison.subject, side.setting, options.scale);
      if (!made)
        return made.takeError();
      side.variant = std::move(*made);
    }
    auto made = makeVariant(comparison.subject, referenceSetting(), {});
    if (!made)
      return made.takeError();
    comparison.reference = std::move(*made);
    return Error::success();
  }

  Error compareNumbers() {
    Values wide;
    if (Error error = evaluate(referenceSetting(), comparison.reference, wide))
      return error;
    for (Side &side : comparison.sides) {
      Values values;
      if (Error error = evaluate(side.setting, side.variant, values))
        return error;
      side.differences =
          compareAll(values, wide, side.tolerance, side.variant.scale);
    }
    return Error::success();
  }

  /// Runs a variant once; the reference on the CPU.
  Error evaluate(const Setting &setting, const Variant &variant,
                 Values &values) {
    auto model = openModel(setting, &variant.module);
    if (!model)
      return model.takeError();
    auto executable =
        (*model)->get(Goal::Run, comparison.subject.function, options.batch);
    if (!executable)
      return executable.takeError();
    Session &session = (*model)->session();
    comparison.device = (*model)->device();
    comparison.where = session.describe();
    if (Error error = session.initialize(options.seed))
      return error;
    if (!options.init.empty())
      if (Error error = loadWeights(options.init, session))
        return error;
    const Entry &entry = (*executable)->entry();
    StepInputs inputs;
    if (Error error = makeInputs(**model, entry, options.batch, options.data,
                                 options.seed, inputs))
      return error;
    auto results = (*executable)->run(inputs.pointers);
    if (!results)
      return results.takeError();
    for (auto [result, from] : zip_equal(entry.results, *results)) {
      auto *bytes = static_cast<const char *>(from);
      values[result.name] = {result.type, {bytes, bytes + result.type.bytes()}};
    }
    return Error::success();
  }

  /// A model of the module; with `prepared` its functions are those of that
  /// text.
  Expected<std::unique_ptr<Model>> openModel(const Setting &setting,
                                             const std::string *prepared) {
    ModelOptions model{
        .module = options.module,
        .device = setting.dtype == "f64" ? "cpu" : options.common.device,
        .threads = options.common.threads,
        .onednn = options.common.onednn,
        .plan = setting.dtype == "f64" ? "" : options.common.plan,
        .onNote = tell};
    model.compile.function = comparison.subject.recipe.empty() || prepared
                                 ? comparison.subject.function
                                 : comparison.subject.recipe;
    model.compile.totalSteps = options.warmup + options.steps;
    if (!prepared) {
      model.compile.precision = setting.precision;
      model.compile.policy = setting.policy;
      return Model::open(std::move(model), compiler, Session::create);
    }
    auto compilePrepared = [this, prepared](StringRef text,
                                            const CompileOptions &given,
                                            KernelSink *sink) {
      if (given.goal != Goal::Run)
        return compiler(text, given, sink);
      // Locations are the user's; this text is nobody's.
      CompileOptions plain = given;
      plain.filename = "<" + given.filename + ">";
      return compiler(*prepared, plain, sink);
    };
    return Model::open(std::move(model), compilePrepared, Session::create);
  }

  //===--------------------------------------------------------------------===//
  // Time
  //===--------------------------------------------------------------------===//

  struct Measured {
    std::unique_ptr<Model> model;
    StepProgram program;
    StepInputs inputs;
  };

  Error measureSteps() {
    if (options.steps == 0)
      return Error::success();
    std::vector<std::unique_ptr<Measured>> measured;
    for (Side &side : comparison.sides) {
      auto one = std::make_unique<Measured>();
      // That one policy cannot be trained with says nothing of the others.
      if (Error error = prepareStep(side, *one)) {
        side.step.whyNot = toString(std::move(error));
        one = nullptr;
      }
      measured.push_back(std::move(one));
    }
    for (uint64_t i = 0; i < options.warmup + options.steps; ++i)
      for (auto [side, one] : zip_equal(comparison.sides, measured))
        if (one)
          if (Error error = timeOne(side, *one, i >= options.warmup))
            return error;
    return Error::success();
  }

  Error prepareStep(Side &side, Measured &measured) {
    auto model = openModel(side.setting, nullptr);
    if (!model)
      return model.takeError();
    measured.model = std::move(*model);
    Session &session = measured.model->session();
    if (comparison.subject.recipe.empty()) {
      auto function = measured.model->get(
          Goal::Run, comparison.subject.function, options.batch);
      if (!function)
        return function.takeError();
      measured.program.last = *function;
    } else {
      auto step = findStep(*measured.model, options.batch);
      if (!step)
        return step.takeError();
      measured.program = *step;
    }
    countStep(measured.program, side.step);
    if (Error error = session.initialize(options.seed))
      return error;
    return makeInputs(*measured.model, measured.program.takesInputs().entry(),
                      options.batch, options.data, options.seed,
                      measured.inputs);
  }

  static void countStep(const StepProgram &program, StepFacts &facts) {
    auto count = [&](const Entry &entry, int64_t times) {
      for (const mp::Step &step : entry.steps) {
        facts.kernels += times;
        if (auto *launch = std::get_if<Launch>(&step))
          facts.bytes += times * launch->bytes;
        else if (auto *call = std::get_if<Call>(&step))
          facts.bytes += times * call->bytes;
        else
          facts.bytes += times * 2 * std::get<Copy>(step).bytes;
      }
    };
    count(program.last->entry(), 1);
    if (program.gather)
      count(program.gather->entry(), program.microBatches);
  }

  Error timeOne(Side &side, Measured &measured, bool counts) {
    using Clock = std::chrono::steady_clock;
    StepProgram &program = measured.program;
    Clock::time_point begin = Clock::now();
    auto ticket = program.submit(measured.inputs.pointers);
    if (!ticket)
      return ticket.takeError();
    auto results = program.last->results(*ticket);
    if (!results)
      return results.takeError();
    Clock::time_point end = Clock::now();
    if (!counts)
      return Error::success();
    side.step.microseconds.push_back(
        std::chrono::duration<double, std::micro>(end - begin).count());
    if (program.skipped &&
        readScalar(program.last->entry(), *results, *program.skipped))
      ++side.step.skipped;
    return Error::success();
  }

  const DiffOptions &options;
  std::function<void(StringRef)> tell;
  Compiler compiler;
  Comparison comparison;
};

} // namespace

Expected<Comparison> compareVariants(const DiffOptions &options) {
  return Comparer(options).run();
}

} // namespace mp::tool

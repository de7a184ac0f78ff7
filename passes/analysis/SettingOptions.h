//===- SettingOptions.h - options that are settings of a recipe -----------===//
#ifndef MP_PASSES_ANALYSIS_SETTINGOPTIONS_H
#define MP_PASSES_ANALYSIS_SETTINGOPTIONS_H

#include "mlir/Pass/Pass.h"
#include "program/RecipeSettings.h"
#include "llvm/Support/CommandLine.h"
#include <concepts>
#include <functional>
#include <memory>
#include <type_traits>
#include <vector>

namespace mp {

/// Reads and writes options whose names, help texts and types are those of
/// fields of RecipeSettings.
class SettingOptions {
public:
  /// Adds an option for a field. `OptionOf<T>` is constructed from `parent`,
  /// the pass or the set of options that it belongs to.
  template <template <typename...> typename OptionOf, typename Parent,
            typename T>
  void add(Parent &parent, const SettingInfo &info, T RecipeSettings::*field) {
    auto option = std::make_shared<OptionOf<T>>(
        parent, info.name, llvm::cl::desc(info.help), llvm::cl::init(T()));
    readers.push_back([option, field](RecipeSettings &settings) {
      settings.*field = option->getValue();
    });
    writers.push_back([option, field](const RecipeSettings &settings) {
      *option = settings.*field;
    });
  }

  /// Sets the fields that have an option.
  void readInto(RecipeSettings &settings) const {
    for (const auto &read : readers)
      read(settings);
  }
  /// Sets the options from the fields.
  void writeFrom(const RecipeSettings &settings) {
    for (const auto &write : writers)
      write(settings);
  }

private:
  std::vector<std::function<void(RecipeSettings &)>> readers;
  std::vector<std::function<void(const RecipeSettings &)>> writers;
};

/// A pass that takes the given fields of RecipeSettings as options, besides
/// those that its record declares. `Base` is the class generated for the
/// record.
template <typename Base, auto... fields> class PassWithSettings : public Base {
public:
  PassWithSettings() { addOptions(); }
  /// Pass::clone() copies the values of options.
  PassWithSettings(const PassWithSettings &other) : Base(other) {
    addOptions();
  }
  /// `options` are those that the record declares.
  template <typename Options>
    requires(!std::derived_from<Options, mlir::Pass>)
  explicit PassWithSettings(Options options) : Base(std::move(options)) {
    addOptions();
  }
  template <typename... Options>
  explicit PassWithSettings(const RecipeSettings &settings,
                            Options &&...options)
      : Base(std::forward<Options>(options)...) {
    addOptions();
    settingOptions.writeFrom(settings);
  }

protected:
  /// Returns the given fields from the options, and the defaults of all others.
  RecipeSettings getSettings() const {
    RecipeSettings settings;
    settingOptions.readInto(settings);
    return settings;
  }

private:
  template <typename T> using OptionOf = typename Base::template Option<T>;

  template <auto field, typename T>
  static constexpr bool isField(T RecipeSettings::*other) {
    if constexpr (std::is_same_v<decltype(field), T RecipeSettings::*>)
      return field == other;
    return false;
  }

  void addOptions() {
    forEachSetting(
        [&]<typename T>(const SettingInfo &info, T RecipeSettings::*field) {
          if ((isField<fields>(field) || ...))
            settingOptions.add<OptionOf>(*this, info, field);
        });
  }

  SettingOptions settingOptions;
};

} // namespace mp

#endif // MP_PASSES_ANALYSIS_SETTINGOPTIONS_H

//===- Problem.h - colourings of a graph, measured ------------------------===//
#ifndef MP_PRECISION_SEARCH_PROBLEM_H
#define MP_PRECISION_SEARCH_PROBLEM_H

#include "precision/search/Gradients.h"
#include "precision/search/Units.h"
#include "llvm/ADT/SmallString.h"

namespace mp::precision {

/// A folder for the policies of candidates; the destructor removes it.
class CandidateFolder {
public:
  static llvm::Expected<CandidateFolder> create();
  CandidateFolder(CandidateFolder &&other) noexcept
      : path(std::exchange(other.path, "")) {}
  ~CandidateFolder();

  /// Writes a policy; returns its path.
  llvm::Expected<std::string> write(llvm::StringRef policy);

private:
  explicit CandidateFolder(llvm::StringRef path) : path(path) {}
  std::string path;
  uint64_t written = 0;
};

/// The problem whose cost is the bytes of a step's launches, which are counted.
class GraphColouring : public ColouringProblem {
public:
  GraphColouring(const Subject &subject, const Units &units,
                 const Setting &type, const GradientReference &reference,
                 Measurer &measurer, CandidateFolder &folder);

  llvm::Expected<std::vector<double>>
  costs(llvm::ArrayRef<Colouring> colourings) override;
  llvm::Expected<double> error(const Colouring &colouring) override;

  /// Returns the policy of a colouring, as --policy takes it.
  llvm::Expected<Setting> settingOf(const Colouring &colouring);

protected:
  const Subject &subject;
  const Units &units;
  const Setting type; ///< the setting without its policy
  const GradientReference &reference;
  Measurer &measurer;
  CandidateFolder &folder;
};

/// The problem whose cost is the time of a step, beside that of another which
/// runs in turn with it.
class TimedColouring final : public GraphColouring {
public:
  using GraphColouring::GraphColouring;
  /// Sets the step that times are relative to.
  llvm::Error compareWith(const Setting &setting);

  llvm::Expected<std::vector<double>>
  costs(llvm::ArrayRef<Colouring> colourings) override;

  /// The candidate that is fastest when they are run in turn, `steps` each; of
  /// those that are equally fast within the margin, the one with least in 16
  /// bits.
  struct Finalist {
    size_t index = 0;
    double cost = 0;
  };
  llvm::Expected<Finalist> fastest(llvm::ArrayRef<Colouring> candidates,
                                   uint64_t steps);

private:
  std::unique_ptr<TimedStep> base;
};

/// Runs steps in turn; the first runs do not count.
llvm::Error runInTurn(llvm::ArrayRef<TimedStep *> steps, uint64_t warmup,
                      uint64_t count);

} // namespace mp::precision

#endif // MP_PRECISION_SEARCH_PROBLEM_H

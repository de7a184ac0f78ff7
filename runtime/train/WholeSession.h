//===- WholeSession.h - a session's state as files hold it ------*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_WHOLESESSION_H
#define MP_RUNTIME_TRAIN_WHOLESESSION_H

#include "runtime/Session.h"
#include "runtime/ranks/Communicator.h"
#include "llvm/ADT/StringMap.h"

namespace mp {

/// A session with whole tensors in the place of parts of them
/// (Variable::whole), for what reads and writes files. `gather` comes before
/// reading them; writing one keeps this rank's part. All else is the session's.
class WholeSession final : public Session {
public:
  /// Both must outlive it. `ranks` may be null: there is one rank.
  WholeSession(Session &parts, Communicator *ranks);

  /// Gathers the tensors of which ranks have parts. Every rank calls it.
  llvm::Error gather();
  /// Gathers one of the session's variables, if ranks have parts of it.
  llvm::Error gather(const Variable &variable);

  llvm::Error load(Program program) override;
  llvm::Error initialize(uint64_t seed) override;
  llvm::Error derive() override { return parts.derive(); }
  llvm::ArrayRef<Variable> variables() const override { return wholes; }
  llvm::Error read(llvm::StringRef variable,
                   llvm::MutableArrayRef<char> bytes) override;
  llvm::Error view(const Variable &variable,
                   llvm::function_ref<void(llvm::ArrayRef<char>)> see) override;
  llvm::Error write(llvm::StringRef variable,
                    llvm::ArrayRef<char> bytes) override;
  Executable *find(llvm::StringRef function, int64_t batch) override {
    return parts.find(function, batch);
  }
  llvm::StringRef target() const override { return parts.target(); }
  std::string arch() const override { return parts.arch(); }
  std::string describe() const override { return parts.describe(); }
  uint64_t plannedBytes() const override { return parts.plannedBytes(); }

private:
  const Variable *partOf(llvm::StringRef name) const;

  Session &parts;
  Communicator *ranks;
  std::vector<Variable> wholes;
  llvm::StringMap<std::string> gathered; ///< padded at the end
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_WHOLESESSION_H

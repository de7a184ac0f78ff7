//===- Variables.h - the state variables of a Session ---------------------===//
#ifndef MP_RUNTIME_VARIABLES_H
#define MP_RUNTIME_VARIABLES_H

#include "program/Program.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"

namespace mp {

/// Bytes that variables take in one piece of memory, each aligned.
uint64_t bytesOf(llvm::ArrayRef<Variable> variables);

/// The variables that a Session declares, by name.
class VariableNames {
public:
  llvm::ArrayRef<Variable> all() const { return declared; }
  /// The bytes of all variables.
  uint64_t bytes() const { return bytesOf(declared); }

  /// The program's variables that are not declared yet, each once. Fails if one
  /// is declared differently.
  llvm::Expected<std::vector<Variable>> fresh(const Program &program) const;

  /// The index of a variable of `bytes` bytes; an error if there is none.
  llvm::Expected<size_t> find(llvm::StringRef name, uint64_t bytes) const;

protected:
  std::vector<Variable> declared;
  llvm::StringMap<size_t> indices;
};

/// Variables with their addresses. `Address` is the device's address type.
template <typename Address> class Variables : public VariableNames {
public:
  /// Declares variables that lie one after the other from `base` on.
  void declare(std::vector<Variable> fresh, Address base) {
    for (Variable &variable : fresh) {
      indices[variable.name] = declared.size();
      addresses.push_back(base);
      base += bytesOf(variable);
      declared.push_back(std::move(variable));
    }
  }
  Address address(size_t index) const { return addresses[index]; }
  /// The storage of a variable that is declared.
  Address address(llvm::StringRef name) const {
    return addresses[indices.at(name)];
  }

private:
  std::vector<Address> addresses;
};

} // namespace mp

#endif // MP_RUNTIME_VARIABLES_H

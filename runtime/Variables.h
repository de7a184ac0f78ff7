//===- Variables.h - the state variables of a Session ---------------------===//
#ifndef MP_RUNTIME_VARIABLES_H
#define MP_RUNTIME_VARIABLES_H

#include "program/Program.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"

namespace mp {

/// Returns the bytes that variables take in one allocation, each of them
/// aligned.
uint64_t bytesOf(llvm::ArrayRef<Variable> variables);

/// The variables that a Session has declared, by name.
class VariableNames {
public:
  llvm::ArrayRef<Variable> all() const { return declared; }
  /// Returns the bytes of all variables.
  uint64_t bytes() const { return bytesOf(declared); }

  /// Returns the variables of the program that are not declared yet, each once.
  /// Takes `derive` out of a program whose derived variables are all declared:
  /// the program that declared them has it. Fails if a variable is declared
  /// differently. If ranks have parts of a tensor, a program may declare the
  /// whole of it, but not use it.
  llvm::Expected<std::vector<Variable>> fresh(Program &program) const;

  /// Returns the index of a variable of `bytes` bytes. Fails if there is none.
  llvm::Expected<size_t> find(llvm::StringRef name, uint64_t bytes) const;

protected:
  std::vector<Variable> declared;
  llvm::StringMap<size_t> indices;
};

/// The variables with their addresses. `Address` is the address type of the
/// device.
template <typename Address> class Variables : public VariableNames {
public:
  /// Declares variables that are stored one after the other from `base` on.
  void declare(std::vector<Variable> fresh, Address base) {
    for (Variable &variable : fresh) {
      indices[variable.name] = declared.size();
      addresses.push_back(base);
      base += bytesOf(variable);
      declared.push_back(std::move(variable));
    }
  }
  Address address(size_t index) const { return addresses[index]; }
  /// Returns the address of a declared variable.
  Address address(llvm::StringRef name) const {
    return addresses[indices.at(name)];
  }

private:
  std::vector<Address> addresses;
};

} // namespace mp

#endif // MP_RUNTIME_VARIABLES_H

//===- CheckpointOrders.h - orders of dimensions in files -------*- C++ -*-===//
//
// Checkpoints and files of weights hold a variable with its dimensions in the
// order of Variable::dimsInFiles. A checkpoint also says in which order each
// tensor is, so that a graph with other orders reads it right.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_TRAIN_CHECKPOINTORDERS_H
#define MP_RUNTIME_TRAIN_CHECKPOINTORDERS_H

#include "runtime/Session.h"
#include "runtime/data/Safetensors.h"

namespace mp {

/// The permutation of each tensor of a file by name, as in
/// Variable::dimsInFiles. Tensors in the order of the graph are left out.
using FileOrders = std::map<std::string, std::vector<int64_t>>;

/// The key of the metadata that holds them as a JSON object: {"conv.weight":
/// [0, 3, 1, 2], ...}. It is left out if no tensor is permuted.
inline constexpr llvm::StringLiteral kFileOrdersKey = "mantissa.dims_in_files";

/// Returns the orders in which checkpoints hold these variables.
FileOrders ordersOf(llvm::ArrayRef<Variable> variables);

/// Returns the value of that metadata.
std::string ordersToText(const FileOrders &orders);

/// Returns the orders in the metadata of a checkpoint. Fails if they do not
/// permute its tensors.
llvm::Expected<FileOrders> ordersIn(const Safetensors &file);

/// Returns the order of a tensor; empty if it is that of the graph.
llvm::ArrayRef<int64_t> orderOf(llvm::StringRef tensor,
                                const FileOrders &orders);

/// Returns a tensor's type with its dimensions in the order of the graph. If
/// `dims` are not as many, it is the type in the file.
TensorType inGraphOrder(const TensorType &inFile, llvm::ArrayRef<int64_t> dims);

/// Returns "16x3x3x3xf32", or "16x3x3x8xf32 (16x8x3x3xf32 in files)" if `dims`
/// permute the type.
std::string describeOrdered(const TensorType &type,
                            llvm::ArrayRef<int64_t> dims);

/// Returns a tensor to be written that holds a variable of a session.
NamedTensor tensorInFile(Session &session, const Variable &variable);

/// The bytes of a file's tensor in the order of the graph: the file's own, or
/// those of `storage`.
llvm::ArrayRef<char> bytesInGraphOrder(const Array &tensor,
                                       llvm::ArrayRef<int64_t> dims,
                                       std::vector<char> &storage);

} // namespace mp

#endif // MP_RUNTIME_TRAIN_CHECKPOINTORDERS_H

//===- Recurrent.h - layers that go from time step to time step -*- C++ -*-===//
//
// Gates, names of variables and first values are those of torch.nn.LSTM, GRU
// and RNN with batch_first, so that their state_dicts fit.
//
//===----------------------------------------------------------------------===//
#ifndef MANTISSA_DSL_RECURRENT_H
#define MANTISSA_DSL_RECURRENT_H

#include "dsl/Graph.h"

namespace mantissa {

/// What the three layers share.
struct Recurrent {
  int64_t hidden = 0; ///< features of a state
  /// Of the variables of layer L: name.weight_ih_lL [gates * hidden, in],
  /// name.weight_hh_lL [gates * hidden, out], name.bias_ih_lL, name.bias_hh_lL;
  /// of the direction from the end, with "_reverse" behind.
  std::string name = {};
  int64_t layers = 1;
  bool bias = true;
  double dropout = 0;         ///< probability, between layers, in training
  bool bidirectional = false; ///< a second direction, from the end
  /// i32 [batch]: how many time steps a sequence has; null: all. As after
  /// pack_padded_sequence, states stay as they are in the steps behind them,
  /// outputs are zeros there, and the second direction begins with the last
  /// step that a sequence has.
  Tensor lengths = {};
  /// [batch, steps], any number but 0 where a text begins: the states before
  /// such a step are zeros.
  Tensor begins = {};
  /// In training, a batch begins with the states that the one before ended
  /// with, row by row, and no gradient flows back into it (truncated
  /// backpropagation through time). Evaluation begins with zeros. They are in
  /// buffers name.hidden_lL and name.cell_lL, for which the batch must have a
  /// size. For texts that go on from batch to batch: TokenWindow::streams.
  bool keepsState = false;
};

/// torch.nn.LSTM.
struct Lstm : Recurrent {
  /// Features of what a time step hands on, by name.weight_hr_lL [projection,
  /// hidden]; 0: `hidden`, without a projection.
  int64_t projection = 0;
};

/// torch.nn.GRU.
struct Gru : Recurrent {};

/// torch.nn.RNN, with tanh unless `relu`.
struct Rnn : Recurrent {
  bool relu = false;
};

/// States before or after a sequence: for each layer and direction one [batch,
/// features], the directions of a layer side by side, as in PyTorch.
struct RecurrentState {
  std::vector<Tensor> hidden;
  std::vector<Tensor> cell; ///< of an LSTM
};

struct RecurrentResult {
  Tensor output;        ///< [batch, steps, features of each direction]
  RecurrentState state; ///< after the last time step
};

/// The input is [batch, steps, features]. Without a state, a sequence begins
/// with zeros.
RecurrentResult lstm(const Operand &input, const Lstm &layer,
                     const RecurrentState &first = {});
RecurrentResult gru(const Operand &input, const Gru &layer,
                    const RecurrentState &first = {});
RecurrentResult rnn(const Operand &input, const Rnn &layer,
                    const RecurrentState &first = {});

} // namespace mantissa

#endif // MANTISSA_DSL_RECURRENT_H

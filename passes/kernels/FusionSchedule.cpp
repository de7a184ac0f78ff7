//===- FusionSchedule.cpp - in which order items are computed -------------===//
#include "passes/kernels/FusionSchedule.h"
#include "llvm/ADT/STLExtras.h"
#include <map>
#include <set>

using namespace mlir;
using namespace mp;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {

class Schedule {
public:
  explicit Schedule(ArrayRef<ItemToSchedule> items)
      : items(items), kinds(items.size()), missing(items.size()),
        users(items.size()), readers(items.size()), done(items.size()) {
    for (auto [index, item] : llvm::enumerate(items)) {
      bool fromNumbers = llvm::all_of(item.sources, [&](unsigned source) {
        return kinds[source] == NumberOfNumbers;
      });
      kinds[index] = !item.isNumber ? Tensor
                     : fromNumbers  ? NumberOfNumbers
                                    : NumberOfTensors;
      missing[index] = item.sources.size();
      for (unsigned source : item.sources)
        users[source].push_back(index);
    }
    findReaders();
  }

  SmallVector<Operation *> run() {
    for (unsigned item = 0; item < items.size(); ++item)
      if (missing[item] == 0)
        add(item);
    SmallVector<Operation *> order;
    while (std::optional<unsigned> item = take()) {
      order.push_back(items[*item].op);
      done[*item] = true;
      for (unsigned user : users[*item])
        if (--missing[user] == 0)
          add(user);
    }
    return order;
  }

private:
  enum Kind { NumberOfNumbers, Tensor, NumberOfTensors };

  /// Finds, for each number of tensors, the first tensor in the block that
  /// waits for it.
  void findReaders() {
    for (unsigned item = items.size(); item-- > 0;) {
      std::optional<unsigned> first;
      for (unsigned user : users[item]) {
        auto reader =
            kinds[user] == Tensor ? std::optional(user) : readers[user];
        if (reader && (!first || *reader < *first))
          first = reader;
      }
      if (kinds[item] == NumberOfTensors)
        readers[item] = first;
    }
  }

  void add(unsigned item) {
    ready[kinds[item]].insert(item);
    if (readers[item])
      ++awaiting[*readers[item]];
  }

  std::optional<unsigned> take() {
    for (Kind kind :
         {NumberOfNumbers, isNumberDue() ? NumberOfTensors : Tensor}) {
      std::set<unsigned> &queue = ready[kind];
      if (queue.empty())
        continue;
      unsigned item = *queue.begin();
      queue.erase(queue.begin());
      if (readers[item] && --awaiting[*readers[item]] == 0)
        awaiting.erase(*readers[item]);
      return item;
    }
    return std::nullopt;
  }

  bool isNumberDue() const {
    const std::set<unsigned> &tensors = ready[Tensor];
    if (tensors.empty())
      return true;
    return !awaiting.empty() && awaiting.begin()->first < *tensors.begin() &&
           waitsForNumbersAlone(awaiting.begin()->first);
  }

  /// Whether no other tensor must be computed before an item.
  bool waitsForNumbersAlone(unsigned item) const {
    return llvm::all_of(items[item].sources, [&](unsigned source) {
      return done[source] ||
             (kinds[source] != Tensor && waitsForNumbersAlone(source));
    });
  }

  ArrayRef<ItemToSchedule> items;
  SmallVector<Kind> kinds;
  SmallVector<unsigned> missing; ///< sources that are not done
  SmallVector<SmallVector<unsigned>> users;
  SmallVector<std::optional<unsigned>> readers;
  SmallVector<bool> done;
  std::set<unsigned> ready[3];           ///< by kind
  std::map<unsigned, unsigned> awaiting; ///< readers of so many ready numbers
};

} // namespace

SmallVector<Operation *> mp::scheduleItems(ArrayRef<ItemToSchedule> items) {
  return Schedule(items).run();
}

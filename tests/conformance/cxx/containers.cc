// Containers created by this library and used by upstream's inline C++ code, and vice versa.
#include <tvm/ffi/big_int.h>
#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/dict.h>
#include <tvm/ffi/container/list.h>
#include <tvm/ffi/container/map.h>
#include <tvm/ffi/function.h>

#include <cstring>
#include <vector>

#include "check.h"

using namespace tvm::ffi;
using check::Call;

namespace {

uint64_t state = 42;

/*! \brief Number of rounds of the random tests, reduced by CHECK_STRESS_DIVISOR. */
int64_t Rounds() {
  const char* divisor = std::getenv("CHECK_STRESS_DIVISOR");
  int64_t value = divisor == nullptr ? 1 : std::atoll(divisor);
  return 20000 / (value < 1 ? 1 : value);
}

uint64_t Random(uint64_t end) {
  state += 0x9e3779b97f4a7c15ull;
  uint64_t word = state;
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ull;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebull;
  return (word ^ (word >> 31)) % end;
}

Any KeyOf(uint64_t number) {
  switch (number % 4) {
    case 0:
      return Any(static_cast<int64_t>(number));
    case 1:
      return Any(String("k" + std::to_string(number)));
    case 2:
      return Any(String("a longer key " + std::to_string(number)));
    default:
      return Any(static_cast<double>(number) / 3);
  }
}

uint64_t Word(const Object* object, size_t offset) {
  uint64_t word;
  std::memcpy(&word, reinterpret_cast<const char*>(object) + offset, sizeof(word));
  return word;
}

/*! \brief Checks that slots, order and metadata of two tables are the same. */
void CheckSameTable(const Object* ours, const Object* theirs) {
  CHECK(Word(ours, 32) == Word(theirs, 32));
  CHECK(Word(ours, 40) == Word(theirs, 40));
  uint64_t slots = Word(ours, 40);
  if (slots >> 63) return;
  CHECK(static_cast<uint32_t>(Word(ours, 56)) == static_cast<uint32_t>(Word(theirs, 56)));
  CHECK(Word(ours, 64) == Word(theirs, 64));
  CHECK(Word(ours, 72) == Word(theirs, 72));
  const char* left = reinterpret_cast<const char*>(Word(ours, 24));
  const char* right = reinterpret_cast<const char*>(Word(theirs, 24));
  for (uint64_t slot = 0; slot < slots; ++slot) {
    size_t offset = (slot / 16) * 784 + slot % 16;
    CHECK(left[offset] == right[offset]);
  }
}

using Model = std::vector<std::pair<Any, int64_t>>;

void CheckEntries(const Dict<Any, Any>& dict, const Model& model) {
  size_t at = 0;
  for (auto [key, value] : dict) {
    CHECK(at < model.size());
    CHECK(AnyEqual()(key, model[at].first));
    CHECK(value.template cast<int64_t>() == model[at].second);
    ++at;
  }
  CHECK(at == model.size());
  if (model.empty()) return;
  Function walk = Call("ffi.DictForwardIterFunctor", dict).cast<Function>();
  for (size_t i = 0; i < model.size(); ++i) {
    CHECK(AnyEqual()(walk(0), model[i].first));
    CHECK(walk(2).cast<bool>() == (i + 1 < model.size()));
  }
}

/*! \brief Both sides change one dict alternately; a vector has the expected content. */
void DictsInTurns(uint64_t spread) {
  Dict<Any, Any> shared = Random(2) ? Call("ffi.Dict").cast<Dict<Any, Any>>() : Dict<Any, Any>();
  Dict<Any, Any> twin;
  Model model;
  const int64_t rounds = Rounds();
  for (int64_t round = 0; round < rounds; ++round) {
    Any key = KeyOf(Random(spread));
    size_t at = 0;
    while (at < model.size() && !AnyEqual()(key, model[at].first)) ++at;
    if (Random(5) < 3) {
      if (Random(2)) {
        shared.Set(key, round);
      } else {
        Call("ffi.DictSetItem", shared, key, round);
      }
      twin.Set(key, round);
      bool dense = !(Word(shared.get(), 40) >> 63);
      if (at < model.size() && !dense) {
        model[at].second = round;
      } else {
        if (at < model.size()) model.erase(model.begin() + at);
        model.emplace_back(key, round);
      }
    } else {
      if (Random(2)) {
        shared.erase(key);
      } else {
        Call("ffi.DictErase", shared, key);
      }
      twin.erase(key);
      if (at < model.size()) model.erase(model.begin() + at);
    }
    CHECK(Call("ffi.DictCount", shared, key).cast<int64_t>() == static_cast<int64_t>(shared.count(key)));
    if (round % 101 == 0) {
      CheckSameTable(shared.get(), twin.get());
      CheckEntries(shared, model);
    }
  }
  CheckEntries(shared, model);
  if (Random(2)) {
    Call("ffi.DictClear", shared);
  } else {
    shared.clear();
  }
  CHECK(shared.empty());
}

void ListsInTurns() {
  List<Any> shared = Call("ffi.List").cast<List<Any>>();
  std::vector<int64_t> model;
  const int64_t rounds = Rounds();
  for (int64_t round = 0; round < rounds; ++round) {
    int64_t at = static_cast<int64_t>(Random(model.size() + 1));
    switch (Random(6)) {
      case 0:
        shared.push_back(round);
        model.push_back(round);
        break;
      case 1:
        Call("ffi.ListAppend", shared, round);
        model.push_back(round);
        break;
      case 2:
        shared.insert(shared.begin() + at, Any(round));
        model.insert(model.begin() + at, round);
        break;
      case 3:
        Call("ffi.ListInsert", shared, at, round);
        model.insert(model.begin() + at, round);
        break;
      case 4:
        if (Random(50) == 0) {
          Call("ffi.ListEraseRange", shared, at, static_cast<int64_t>(model.size()));
          model.resize(at);
        } else if (at < static_cast<int64_t>(model.size())) {
          CHECK(Call("ffi.ListPop", shared, at).cast<int64_t>() == model[at]);
          model.erase(model.begin() + at);
        }
        break;
      default:
        if (at < static_cast<int64_t>(model.size())) {
          shared.erase(shared.begin() + at);
          model.erase(model.begin() + at);
        }
    }
  }
  CHECK(shared.size() == model.size());
  for (size_t i = 0; i < model.size(); ++i) {
    CHECK(shared[i].cast<int64_t>() == model[i]);
    CHECK(Call("ffi.ListGetItem", shared, static_cast<int64_t>(i)).cast<int64_t>() == model[i]);
  }
}

void ArraysAndMapsAreCopiedOnWrite() {
  Array<Any> array = Call("ffi.Array", 1, 2, 3).cast<Array<Any>>();
  Array<Any> other = array;
  for (int i = 4; i < 40; ++i) array.push_back(i);
  CHECK(other.size() == 3 && array.size() == 39 && array[38].cast<int>() == 39);
  CHECK(Call("ffi.ArrayGetItem", array, 38).cast<int>() == 39);

  Map<Any, Any> map = Call("ffi.Map", "a", 1, "b", 2).cast<Map<Any, Any>>();
  for (int64_t i = 0; i < 200; ++i) map.Set(KeyOf(i), i);
  Map<Any, Any> copy = map;
  for (int64_t i = 0; i < 200; i += 3) map.erase(KeyOf(i));
  for (int64_t i = 0; i < 200; ++i) {
    CHECK(Call("ffi.MapCount", map, KeyOf(i)).cast<int64_t>() == (i % 3 != 0));
    CHECK(Call("ffi.MapGetItem", copy, KeyOf(i)).cast<int64_t>() == i);
    CHECK(copy.at(KeyOf(i)).cast<int64_t>() == i);
  }
}

/*! \brief Checks that both sides compute the same hash of a big integer, by value. */
void BigIntegersAreKeysByValue() {
  Dict<Any, Any> dict = Call("ffi.Dict").cast<Dict<Any, Any>>();
  for (int64_t i = 0; i < 40; ++i) {
    Any key((BigInt(1) << 100) + BigInt(i));
    if (i % 2) {
      dict.Set(key, i);
    } else {
      Call("ffi.DictSetItem", dict, key, i);
    }
  }
  CHECK(dict.size() == 40);
  for (int64_t i = 0; i < 40; ++i) {
    Any key((BigInt(1) << 100) + BigInt(i));
    CHECK(dict.at(key).cast<int64_t>() == i);
    CHECK(Call("ffi.DictGetItem", dict, key).cast<int64_t>() == i);
  }
}

/*! \brief Checks that containers release every reference. */
void NothingLeaks() {
  Array<Any> witness = {1, 2};
  Any held(witness);
  auto before = witness.use_count();
  {
    List<Any> list = Call("ffi.List", held, held).cast<List<Any>>();
    for (int i = 0; i < 50; ++i) list.push_back(held);
    Dict<Any, Any> dict = Call("ffi.Dict", 1, held).cast<Dict<Any, Any>>();
    for (int i = 0; i < 50; ++i) dict.Set(i, list);
    for (int i = 0; i < 100; ++i) Call("ffi.DictSetItem", dict, i, held);
    Map<Any, Any> map = Call("ffi.Map", 1, held, 2, dict).cast<Map<Any, Any>>();
    for (int i = 0; i < 50; ++i) map.Set(i, held);
    Array<Any> array = Call("ffi.Array", map, held).cast<Array<Any>>();
    for (int i = 0; i < 50; ++i) array.push_back(held);
  }
  CHECK(witness.use_count() == before);
}

}  // namespace

int main() {
  for (uint64_t spread : {4, 9, 60, 1000, 5000}) DictsInTurns(spread);
  ListsInTurns();
  ArraysAndMapsAreCopiedOnWrite();
  BigIntegersAreKeysByValue();
  NothingLeaks();
  return check::Report("containers");
}

//===- CustomCall.cpp - Custom calls -----------------------------------------===//
//
// A callee sees whole arrays unless the text says how it splits:
//
//   xla.sdy.sharding_rule   "#sdy.op_sharding_rule<([i, j], [j, k])->([i, k]) {i=8, j=4, k=2}
//                           reduction={j}>": the callee may be called on shards along a factor that
//                           operands and results have. Along a factor of `reduction` results are
//                           added up. Factors of `need_replication`, `permutation` and those of only
//                           operands or only results stay whole.
//   num_batch_dims          the first dimensions of all arrays
//   lapack_*_ffi            dimensions before the matrices; *trsm: the right-hand sides, too
//
// Rules name dimensions of logical arrays. Operands and results of the op have physical shapes once
// layouts are normalized, and attributes keep the logical types with their layouts: here they
// become those of the shards.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/spmd/rules/Other.h"
#include "dialect/hlo/TextAttrs.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::spmd;

namespace {

//===----------------------------------------------------------------------===//
// Attributes as text
//===----------------------------------------------------------------------===//

/// The value of a frontend attribute, without its quotes; "" if there is none.
StringRef frontendAttribute(Operation *op, StringRef key) {
  auto attributes = op->getAttrOfType<StringAttr>("hlo.frontend_attributes");
  StringRef text = attributes ? attributes.getValue() : StringRef();
  if (!text.consume_front("{")) {
    return {};
  }
  while (!text.empty()) {
    size_t equals = text.find('=');
    if (equals == StringRef::npos) {
      return {};
    }
    StringRef name = text.take_front(equals).trim(" ,");
    text = text.drop_front(equals + 1);
    size_t end = quotedEnd(text);
    StringRef value;
    if (end != StringRef::npos) {
      value = text.slice(1, end);
      text = text.drop_front(end + 1);
    } else if (text.starts_with("{")) {
      size_t depth = 0, at = 0;
      for (; at < text.size(); ++at) {
        depth += text[at] == '{' ? 1 : 0;
        if (text[at] == '}' && --depth == 0) {
          break;
        }
      }
      value = text.take_front(at + 1);
      text = text.drop_front(std::min(at + 1, text.size()));
    } else {
      return {};
    }
    if (name == key) {
      return value;
    }
  }
  return {};
}

/// The integer after `key =` in a backend_config; -1 if there is none.
int64_t configNumber(Operation *op, StringRef key) {
  auto config = op->getAttrOfType<StringAttr>("hlo.backend_config");
  StringRef text = config ? config.getValue() : StringRef();
  while (true) {
    size_t at = text.find(key);
    if (at == StringRef::npos) {
      return -1;
    }
    bool isWord = at == 0 || (!llvm::isAlnum(text[at - 1]) && text[at - 1] != '_');
    text = text.drop_front(at + key.size());
    StringRef rest = text.ltrim();
    int64_t number;
    if (isWord && rest.consume_front("=")) {
      rest = rest.ltrim();
      return rest.consumeInteger(10, number) ? -1 : number;
    }
  }
}

//===----------------------------------------------------------------------===//
// Logical arrays
//===----------------------------------------------------------------------===//

/// The logical types of operands or results: an attribute's if there is one, else those of the
/// values. Nothing if the attribute does not fit the values.
std::optional<SmallVector<RankedTensorType>> logicalTypes(Operation *op, StringRef attribute,
                                                          TypeRange values) {
  SmallVector<RankedTensorType> types;
  auto list = op->getAttrOfType<ArrayAttr>(attribute);
  if (list && list.size() != values.size()) {
    return std::nullopt;
  }
  for (auto [i, value] : llvm::enumerate(values)) {
    Type type = list ? cast<TypeAttr>(list[i]).getValue() : value;
    RankedTensorType array = arrayType(type), physical = arrayType(value);
    if (!array || !physical || array.getRank() != physical.getRank()) {
      return std::nullopt;
    }
    SmallVector<int64_t> order = minorToMajor(array);
    for (int64_t dim = 0, rank = array.getRank(); list && dim < rank; ++dim) {
      if (physical.getDimSize(dim) != array.getDimSize(order[rank - 1 - dim])) {
        return std::nullopt;
      }
    }
    types.push_back(array);
  }
  return types;
}

/// The dimension of the logical array at dimension `dim` of the value.
int64_t logicalDim(Operation *op, StringRef attribute, RankedTensorType logical, int64_t dim) {
  return op->hasAttr(attribute) ? minorToMajor(logical)[logical.getRank() - 1 - dim] : dim;
}

/// A rule on logical arrays.
struct LogicalRule {
  Operation *op;
  SmallVector<RankedTensorType> operandTypes, resultTypes;
  SmallVector<DimFactors, 4> operands, results;
  SmallVector<Factor, 8> factors;

  unsigned addFactor(int64_t size, FactorKind kind = FactorKind::Pass) {
    factors.push_back({size, kind});
    return factors.size() - 1;
  }
  /// The rule on the op's values.
  Rule physical() const {
    Rule rule = Rule::of(op);
    rule.factors = factors;
    auto permute = [&](StringRef attribute, ArrayRef<RankedTensorType> types,
                       ArrayRef<DimFactors> from, MutableArrayRef<DimFactors> to) {
      for (auto [i, type] : llvm::enumerate(types)) {
        for (int64_t dim = 0; dim < type.getRank(); ++dim) {
          to[i][dim] = from[i][logicalDim(op, attribute, type, dim)];
        }
      }
    };
    permute("operand_leaves", operandTypes, operands, rule.operands);
    permute("result_leaves", resultTypes, results, rule.results);
    return rule;
  }
};

//===----------------------------------------------------------------------===//
// Rules of known callees
//===----------------------------------------------------------------------===//

/// Shares the first `count` dimensions of all arrays. False if they are not the same.
bool shareBatch(LogicalRule &rule, int64_t count) {
  auto hasBatch = [&](RankedTensorType type) {
    return type.getRank() >= count &&
           type.getShape().take_front(count) == rule.resultTypes[0].getShape().take_front(count);
  };
  if (count < 0 || rule.resultTypes.empty() || rule.resultTypes[0].getRank() < count ||
      !llvm::all_of(rule.resultTypes, hasBatch) || !llvm::all_of(rule.operandTypes, hasBatch)) {
    return false;
  }
  for (int64_t dim = 0; dim < count; ++dim) {
    int64_t size = rule.resultTypes[0].getDimSize(dim);
    if (size <= 1) {
      continue;
    }
    unsigned factor = rule.addFactor(size);
    for (DimFactors &dims : rule.operands) {
      dims[dim] = {factor};
    }
    for (DimFactors &dims : rule.results) {
      dims[dim] = {factor};
    }
  }
  return true;
}

/// The number of batch dimensions, or -1.
int64_t batchDims(CustomCallOp op, const LogicalRule &rule) {
  int64_t count;
  if (StringRef text = frontendAttribute(op, "num_batch_dims");
      !text.empty() && !text.getAsInteger(10, count)) {
    return count;
  }
  StringRef target = op.getCustomCallTarget();
  if (!target.starts_with("lapack_") || !target.ends_with("_ffi") || rule.operandTypes.empty()) {
    return -1;
  }
  return rule.operandTypes[0].getRank() - (target.contains("gtsv") ? 1 : 2);
}

/// BLAS' trsm: the columns (side L) or rows (R) of b are independent of each other.
void shareRightHandSides(CustomCallOp op, LogicalRule &rule) {
  StringRef target = op.getCustomCallTarget();
  int64_t side = configNumber(op, "side");
  if (!target.starts_with("lapack_") || !target.ends_with("trsm_ffi") ||
      rule.operandTypes.size() != 2 || rule.resultTypes.size() != 1 ||
      rule.resultTypes[0].getRank() < 2 ||
      rule.operandTypes[1].getShape() != rule.resultTypes[0].getShape() ||
      (side != 'L' && side != 'R')) {
    return;
  }
  int64_t dim = rule.resultTypes[0].getRank() - (side == 'L' ? 1 : 2);
  if (int64_t size = rule.resultTypes[0].getDimSize(dim); size > 1) {
    rule.operands[1][dim] = rule.results[0][dim] = {rule.addFactor(size)};
  }
}

//===----------------------------------------------------------------------===//
// Shardy's rule
//===----------------------------------------------------------------------===//

/// Reads "#sdy.op_sharding_rule<([i, jk], [])->([i]) {i=8, j=4, k=2} reduction={j}, custom>".
class ShardingRuleParser {
public:
  ShardingRuleParser(StringRef text, LogicalRule &rule) : text(text), rule(rule) {}

  /// False if the text is malformed or does not fit the arrays.
  bool parse() {
    if (!consume("#sdy.op_sharding_rule<") || !parseArrays(operands) || !consume("->") ||
        !parseArrays(results) || !parseSizes()) {
      return false;
    }
    while (!consume(">")) {
      consume(",");
      StringRef key = text.ltrim().take_while([](char c) { return llvm::isAlpha(c) || c == '_'; });
      if (key.empty() || !consume(key)) {
        return false;
      }
      if (consume("=") && !parseFactorSet(key)) {
        return false;
      }
    }
    return text.trim().empty() && fits(operands, rule.operandTypes) &&
           fits(results, rule.resultTypes) && assign();
  }

private:
  using Names = SmallVector<StringRef, 2>;
  using Arrays = SmallVector<SmallVector<Names, 4>, 4>;

  bool consume(StringRef token) {
    text = text.ltrim();
    return text.consume_front(token);
  }
  /// A letter, possibly followed by `_` and digits.
  StringRef parseName() {
    text = text.ltrim();
    if (text.empty() || !llvm::isAlpha(text.front())) {
      return {};
    }
    size_t size = 1;
    if (text.drop_front().starts_with("_")) {
      size = 2 + text.drop_front(2).take_while(llvm::isDigit).size();
    }
    StringRef name = text.take_front(size);
    text = text.drop_front(size);
    return name;
  }
  /// ([i, jk], [])
  bool parseArrays(Arrays &arrays) {
    if (!consume("(")) {
      return false;
    }
    while (!consume(")")) {
      if ((!arrays.empty() && !consume(",")) || !consume("[")) {
        return false;
      }
      auto &dims = arrays.emplace_back();
      while (!consume("]")) {
        if (!dims.empty() && !consume(",")) {
          return false;
        }
        Names &names = dims.emplace_back();
        for (StringRef name = parseName(); !name.empty(); name = parseName()) {
          names.push_back(name);
        }
        if (names.empty()) {
          return false;
        }
      }
    }
    return true;
  }
  /// {i=8, j=4}
  bool parseSizes() {
    if (!consume("{")) {
      return false;
    }
    for (bool first = true; !consume("}"); first = false) {
      int64_t size;
      if (!first && !consume(",")) {
        return false;
      }
      StringRef name = parseName();
      if (name.empty() || !consume("=") || text.ltrim().empty()) {
        return false;
      }
      text = text.ltrim();
      if (text.consumeInteger(10, size) || size < 1) {
        return false;
      }
      sizes[name] = size;
    }
    return true;
  }
  /// reduction={j}
  bool parseFactorSet(StringRef key) {
    if (!consume("{")) {
      return false;
    }
    for (bool first = true; !consume("}"); first = false) {
      if (!first && !consume(",")) {
        return false;
      }
      StringRef name = parseName();
      if (name.empty()) {
        return false;
      }
      if (key == "reduction") {
        reduced[name] = true;
      } else if (key != "blocked_propagation") {
        whole[name] = true;
      }
    }
    return true;
  }

  bool fits(const Arrays &arrays, ArrayRef<RankedTensorType> types) const {
    if (arrays.size() != types.size()) {
      return false;
    }
    for (auto [dims, type] : llvm::zip(arrays, types)) {
      if (static_cast<int64_t>(dims.size()) != type.getRank()) {
        return false;
      }
      for (auto [names, size] : llvm::zip(dims, type.getShape())) {
        int64_t product = 1;
        for (StringRef name : names) {
          auto known = sizes.find(name);
          if (known == sizes.end() || known->second > size / product) {
            return false;
          }
          product *= known->second;
        }
        if (product != size) {
          return false;
        }
      }
    }
    return true;
  }

  static bool occurs(const Arrays &arrays, StringRef name) {
    return llvm::any_of(arrays, [&](ArrayRef<Names> dims) {
      return llvm::any_of(dims,
                          [&](const Names &names) { return llvm::is_contained(names, name); });
    });
  }
  /// True if the factor is not the major one of some dimension: shards are no runs of it.
  bool isMinor(StringRef name) const {
    return llvm::any_of(ArrayRef<const Arrays *>{&operands, &results}, [&](const Arrays *arrays) {
      return llvm::any_of(*arrays, [&](ArrayRef<Names> dims) {
        return llvm::any_of(dims, [&](ArrayRef<StringRef> names) {
          return !names.empty() && llvm::is_contained(names.drop_front(), name);
        });
      });
    });
  }
  /// True if the factor shares a dimension with others.
  bool isShared(StringRef name) const {
    return llvm::any_of(ArrayRef<const Arrays *>{&operands, &results}, [&](const Arrays *arrays) {
      return llvm::any_of(*arrays, [&](ArrayRef<Names> dims) {
        return llvm::any_of(dims, [&](ArrayRef<StringRef> names) {
          return names.size() > 1 && llvm::is_contained(names, name);
        });
      });
    });
  }
  FactorKind kindOf(StringRef name) const {
    if (whole.contains(name) || isMinor(name) || !occurs(operands, name)) {
      return FactorKind::Whole;
    }
    if (occurs(results, name)) {
      return isShared(name) ? FactorKind::Special : FactorKind::Pass;
    }
    return reduced.contains(name) && !isShared(name) ? FactorKind::Sum : FactorKind::Whole;
  }
  /// Numbers the factors in the order in which they occur.
  bool assign() {
    llvm::StringMap<unsigned> numbers;
    auto give = [&](const Arrays &arrays, MutableArrayRef<DimFactors> to) {
      for (auto [dims, factors] : llvm::zip(arrays, to)) {
        for (auto [names, list] : llvm::zip(dims, factors)) {
          for (StringRef name : names) {
            if (sizes.lookup(name) == 1) {
              continue;
            }
            auto [known, isNew] = numbers.try_emplace(name, 0);
            if (isNew) {
              known->second = rule.addFactor(sizes.lookup(name), kindOf(name));
            }
            list.push_back(known->second);
          }
        }
      }
    };
    give(operands, rule.operands);
    give(results, rule.results);
    return true;
  }

  StringRef text;
  LogicalRule &rule;
  Arrays operands, results;
  llvm::StringMap<int64_t> sizes;
  llvm::StringMap<bool> reduced, whole;
};

//===----------------------------------------------------------------------===//
// The rule
//===----------------------------------------------------------------------===//

/// Replaces the arrays in the attribute's types by `leaves`, in order; null if they do not match.
ArrayAttr localTypes(ArrayAttr types, ArrayRef<Type> leaves) {
  size_t next = 0;
  bool fits = true;
  std::function<Type(Type, int)> replace = [&](Type type, int depth) -> Type {
    if (auto tuple = dyn_cast<TupleType>(type); tuple && depth < 100) {
      SmallVector<Type> parts;
      for (Type part : tuple.getTypes()) {
        parts.push_back(replace(part, depth + 1));
      }
      return TupleType::get(type.getContext(), parts);
    }
    auto array = dyn_cast<RankedTensorType>(type);
    if (!array) {
      return type;
    }
    auto leaf = next < leaves.size() ? dyn_cast<RankedTensorType>(leaves[next]) : nullptr;
    ++next;
    if (!leaf || leaf.getRank() != array.getRank()) {
      fits = false;
      return type;
    }
    return RankedTensorType::get(leaf.getShape(), array.getElementType(), array.getEncoding());
  };
  SmallVector<Attribute> result;
  for (Attribute type : types) {
    auto typeAttr = dyn_cast<TypeAttr>(type);
    if (!typeAttr) {
      return {};
    }
    result.push_back(TypeAttr::get(replace(typeAttr.getValue(), 0)));
  }
  return fits && next == leaves.size() ? ArrayAttr::get(types.getContext(), result) : ArrayAttr();
}

constexpr StringLiteral kOperandTypes[] = {"operand_leaves", "operand_types",
                                           "operand_layout_constraints"};
constexpr StringLiteral kResultTypes[] = {"result_leaves", "result_types"};

/// True if all attributes that state types can be replaced by those of shards.
bool canReplaceTypes(Operation *op, const LogicalRule &rule) {
  auto check = [&](ArrayRef<StringLiteral> names, ArrayRef<RankedTensorType> types) {
    SmallVector<Type> leaves(types.begin(), types.end());
    return llvm::all_of(names, [&](StringRef name) {
      auto list = op->getAttrOfType<ArrayAttr>(name);
      return !list || localTypes(list, leaves);
    });
  };
  return check(kOperandTypes, rule.operandTypes) && check(kResultTypes, rule.resultTypes);
}

Rule customCallRule(Operation *op) {
  auto call = cast<CustomCallOp>(op);
  auto whole = [&](const char *reason) {
    Rule rule = Rule::of(op);
    rule.replicated = reason;
    return rule;
  };
  auto operands = logicalTypes(op, "operand_leaves", op->getOperandTypes());
  auto results = logicalTypes(op, "result_leaves", op->getResultTypes());
  if (!operands || !results || results->empty()) {
    return whole("its callee sees whole arrays");
  }
  LogicalRule rule{op, *operands, *results, {}, {}, {}};
  auto clear = [&] {
    rule.factors.clear();
    rule.operands.clear();
    rule.results.clear();
    for (RankedTensorType type : rule.operandTypes) {
      rule.operands.emplace_back(type.getRank());
    }
    for (RankedTensorType type : rule.resultTypes) {
      rule.results.emplace_back(type.getRank());
    }
  };
  clear();
  if (!canReplaceTypes(op, rule)) {
    return whole("its callee sees whole arrays");
  }
  StringRef sharding = frontendAttribute(op, "xla.sdy.sharding_rule");
  auto isUseful = [&] {
    return llvm::any_of(rule.factors,
                        [](const Factor &factor) { return factor.kind != FactorKind::Whole; });
  };
  if (shareBatch(rule, batchDims(call, rule))) {
    shareRightHandSides(call, rule);
    if (isUseful()) {
      return rule.physical();
    }
    clear();
  }
  if (sharding.empty()) {
    return whole("its callee sees whole arrays");
  }
  if (!ShardingRuleParser(sharding, rule).parse()) {
    return whole("its sharding rule does not fit the arrays");
  }
  return isUseful() ? rule.physical() : whole("its sharding rule splits no dimension");
}

/// Shares of a dimension with several factors are runs of the major one only if they are even.
bool acceptsCall(Operation *op, const Rule &rule, const FactorAxes &axes, const Mesh &mesh) {
  for (auto [n, factor] : llvm::enumerate(rule.factors)) {
    if (factor.kind == FactorKind::Special && factor.size % mesh.count(axes[n]) != 0) {
      return false;
    }
  }
  return true;
}

FailureOr<SmallVector<Value>> emitCustomCall(Site &site) {
  Operation *op = site.op;
  auto localLeaves = [&](StringRef attribute, TypeRange values, bool isOperand) {
    SmallVector<Type> leaves;
    auto list = op->getAttrOfType<ArrayAttr>(attribute);
    for (auto [i, value] : llvm::enumerate(values)) {
      RankedTensorType array = arrayType(value);
      if (!array) {
        return SmallVector<Type>();
      }
      auto local = cast<RankedTensorType>(shardType(
          array, isOperand ? site.operandSharding(i) : site.resultSharding(i), site.e.mesh));
      auto logical = list ? cast<RankedTensorType>(cast<TypeAttr>(list[i]).getValue()) : array;
      SmallVector<int64_t> shape(local.getShape());
      for (int64_t dim = 0; dim < array.getRank(); ++dim) {
        shape[logicalDim(op, attribute, logical, dim)] = local.getDimSize(dim);
      }
      leaves.push_back(RankedTensorType::get(shape, array.getElementType()));
    }
    return leaves;
  };
  bool isSplit = llvm::any_of(site.axes, [](const AxisList &axes) { return !axes.empty(); });
  if (!isSplit) {
    return SmallVector<Value>(site.clone()->getResults());
  }
  // A callee may not stop on what is undefined, such as an SVD that iterates: padding is zeros.
  for (auto [i, operand] : llvm::enumerate(site.operands)) {
    Sharding sharding = site.operandSharding(i);
    for (auto [dim, axes] : llvm::enumerate(sharding.dims)) {
      operand = site.e.maskPadding(operand, dim, axes, site.operandType(i).getDimSize(dim),
                                   site.e.zero(elementTypeOf(operand)));
    }
  }
  SmallVector<NamedAttribute> changed;
  auto replace = [&](ArrayRef<StringLiteral> names, ArrayRef<Type> leaves) {
    for (StringRef name : names) {
      if (auto list = op->getAttrOfType<ArrayAttr>(name)) {
        changed.emplace_back(StringAttr::get(op->getContext(), name), localTypes(list, leaves));
      }
    }
  };
  replace(kOperandTypes, localLeaves("operand_leaves", op->getOperandTypes(), true));
  replace(kResultTypes, localLeaves("result_leaves", op->getResultTypes(), false));
  return SmallVector<Value>(site.cloneWith(changed)->getResults());
}

} // namespace

void hlo::spmd::registerCustomCall(PartitionerTable &table) {
  table["hlo.custom_call"] = {
      .rule = customCallRule, .emit = emitCustomCall, .accepts = acceptsCall};
}

//===- Rule.cpp - What the rules of ops are written with ------------------===//
#include "dialect/stablehlo/rules/Rule.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace stablehlo;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

static bool hasWidth(unsigned width) {
  return llvm::is_contained({2u, 4u, 8u, 16u, 32u, 64u}, width);
}

/// Scales are positive and finite in the expressed type, zero points are values of the storage
/// type.
static bool isValidQuantized(quant::QuantizedType type) {
  auto expressed = dyn_cast<FloatType>(type.getExpressedType());
  auto storage = dyn_cast<IntegerType>(type.getStorageType());
  if (!expressed || !storage || storage.isSigned() || !hasWidth(storage.getWidth()) ||
      storage.getWidth() > 32) {
    return false;
  }
  SmallVector<double> scales;
  SmallVector<int64_t> zeroPoints;
  if (auto one = dyn_cast<quant::UniformQuantizedType>(type)) {
    scales = {one.getScale()};
    zeroPoints = {one.getZeroPoint()};
  } else if (auto axis = dyn_cast<quant::UniformQuantizedPerAxisType>(type)) {
    scales = llvm::to_vector(axis.getScales());
    zeroPoints = llvm::to_vector(axis.getZeroPoints());
  } else {
    return false;
  }
  bool loses;
  auto limit = [&](APFloat value) {
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
    return value.convertToDouble();
  };
  double smallest = limit(APFloat::getSmallest(expressed.getFloatSemantics()));
  double largest = limit(APFloat::getLargest(expressed.getFloatSemantics()));
  return llvm::all_of(scales,
                      [&](double scale) { return scale >= smallest && scale <= largest; }) &&
         llvm::all_of(zeroPoints, [&](int64_t zero) {
           return zero >= type.getStorageTypeMin() && zero <= type.getStorageTypeMax();
         });
}

unsigned stablehlo::kindOf(Type element) {
  if (auto integer = dyn_cast<IntegerType>(element)) {
    if (integer.isSignless() && integer.getWidth() == 1) {
      return Pred;
    }
    return integer.isSigned() || !hasWidth(integer.getWidth()) ? 0
           : integer.isSignless()                              ? SInt
                                                               : UInt;
  }
  if (isa<IndexType>(element)) {
    return Index;
  }
  if (auto number = dyn_cast<FloatType>(element)) {
    return isa<Float80Type, Float128Type, FloatTF32Type>(number) ? 0 : Float;
  }
  if (auto number = dyn_cast<ComplexType>(element)) {
    return number.getElementType().isF32() || number.getElementType().isF64() ? Complex : 0;
  }
  auto quantized = dyn_cast<quant::QuantizedType>(element);
  if (!quantized || !isValidQuantized(quantized)) {
    return 0;
  }
  return isa<quant::UniformQuantizedType>(quantized) ? Quant : QuantAxis;
}

std::string stablehlo::describeKinds(unsigned kinds) {
  SmallVector<StringRef> names;
  auto add = [&](unsigned kind, StringRef name) {
    if ((kinds & kind) == kind) {
      names.push_back(name);
    }
  };
  add(Pred, "i1");
  if ((kinds & Int) == Int) {
    names.push_back("integer");
  } else {
    add(SInt, "signed integer");
    add(UInt, "unsigned integer");
  }
  add(Float, "float");
  add(Complex, "complex");
  add(Quant, "quantized");
  add(QuantAxis, "per-axis quantized");
  add(Index, "index");
  std::string text;
  for (auto [i, name] : llvm::enumerate(names)) {
    text += i == 0 ? "" : i + 1 == names.size() ? " or " : ", ";
    text += name;
  }
  return text;
}

Type stablehlo::expressedType(Type element) {
  auto quantized = dyn_cast<quant::QuantizedType>(element);
  return quantized ? quantized.getExpressedType() : element;
}
Type stablehlo::storageType(Type element) {
  auto quantized = dyn_cast<quant::QuantizedType>(element);
  return quantized ? quantized.getStorageType() : element;
}

bool stablehlo::elementsAgree(Type a, Type b) {
  auto qa = dyn_cast<quant::QuantizedType>(a), qb = dyn_cast<quant::QuantizedType>(b);
  if (qa && qb &&
      (qa.getStorageType() != qb.getStorageType() || qa.isSigned() != qb.isSigned() ||
       qa.getStorageTypeMin() != qb.getStorageTypeMin() ||
       qa.getStorageTypeMax() != qb.getStorageTypeMax())) {
    return false;
  }
  return expressedType(a) == expressedType(b);
}

Type stablehlo::realType(Type element) {
  auto number = dyn_cast<ComplexType>(element);
  return number ? number.getElementType() : element;
}

bool stablehlo::accumulates(Type from, Type to) {
  unsigned kind = kindOf(from);
  return isPromotable(from, to) || (kind == kindOf(to) && (kind == Float || kind == Complex));
}

bool stablehlo::isPromotable(Type from, Type to) {
  if (from == to) {
    return true;
  }
  unsigned kind = kindOf(from);
  if (kind != kindOf(to)) {
    return false;
  }
  auto bits = [](Type type) { return type.getIntOrFloatBitWidth(); };
  switch (kind) {
  case SInt:
  case UInt:
  case Float: return bits(from) <= bits(to);
  case Complex:
    return bits(cast<ComplexType>(from).getElementType()) <=
           bits(cast<ComplexType>(to).getElementType());
  case Quant:
  case QuantAxis:
    return expressedType(from) == expressedType(to) &&
           bits(storageType(from)) <= bits(storageType(to));
  default: return false;
  }
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

bool stablehlo::shapesAgree(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip_equal(a, b), [](const auto &sizes) {
           return sizesAgree(std::get<0>(sizes), std::get<1>(sizes));
         });
}

bool stablehlo::shapesAgree(RankedTensorType a, RankedTensorType b) {
  if (!shapesAgree(a.getShape(), b.getShape())) {
    return false;
  }
  // A size that one type has as a number is within the bound that the other has.
  auto fits = [](RankedTensorType sized, ArrayRef<int64_t> bounds) {
    return bounds.empty() ||
           llvm::all_of(llvm::zip(sized.getShape(), bounds), [](const auto &pair) {
             auto [size, bound] = pair;
             return ShapedType::isDynamic(bound) || ShapedType::isDynamic(size) || size <= bound;
           });
  };
  return fits(a, boundsOf(b)) && fits(b, boundsOf(a));
}

bool stablehlo::typesAgree(Type a, Type b) {
  RankedTensorType first = arrayOf(a), second = arrayOf(b);
  if (!first || !second) {
    return a == b;
  }
  return shapesAgree(first, second) &&
         elementsAgree(first.getElementType(), second.getElementType());
}

std::string stablehlo::shapeText(ArrayRef<int64_t> sizes) {
  std::string text = "[";
  for (auto [i, size] : llvm::enumerate(sizes)) {
    text += i ? ", " : "";
    text += ShapedType::isDynamic(size) ? "?" : std::to_string(size);
  }
  return text + "]";
}

SmallVector<int64_t> stablehlo::joined(std::initializer_list<ArrayRef<int64_t>> lists) {
  SmallVector<int64_t> all;
  for (ArrayRef<int64_t> list : lists) {
    llvm::append_range(all, list);
  }
  return all;
}

//===----------------------------------------------------------------------===//
// Check
//===----------------------------------------------------------------------===//

void Check::append(llvm::raw_ostream &os, ArrayRef<int64_t> list) { os << shapeText(list); }

void Check::report(StringRef label, StringRef message) {
  failed = true;
  emitError(op->getLoc()) << name << ": " << message << " [" << name << '_' << label << ']';
}

bool Check::inRange(StringRef label, StringRef what, ArrayRef<int64_t> list, int64_t rank) {
  for (int64_t entry : list) {
    if (entry < 0 || entry >= rank) {
      return fail(label, what, " has ", entry, ", which is not within [0, ", rank, ")");
    }
  }
  return true;
}

bool Check::unique(StringRef label, StringRef what, ArrayRef<int64_t> list) {
  SmallVector<int64_t> entries = llvm::to_vector(list);
  llvm::sort(entries);
  auto *twice = std::adjacent_find(entries.begin(), entries.end());
  return twice == entries.end() || fail(label, what, " has ", *twice, " twice");
}

bool Check::sorted(StringRef label, StringRef what, ArrayRef<int64_t> list) {
  return require(llvm::is_sorted(list), label, what, " is not sorted: ", list);
}

bool Check::hasSize(StringRef label, StringRef what, int64_t size, int64_t expected) {
  return require(size == expected, label, what, " has ", size, " entries, expected ", expected);
}

bool Check::positive(StringRef label, StringRef what, ArrayRef<int64_t> list) {
  for (int64_t entry : list) {
    if (entry <= 0) {
      return fail(label, what, " has ", entry, ", expected a positive number");
    }
  }
  return true;
}

bool Check::resultShape(StringRef label, ArrayRef<int64_t> sizes, unsigned index) {
  RankedTensorType type = result(index);
  if (type && !shapesAgree(type.getShape(), sizes)) {
    return fail(label, "the result's shape is ", type.getShape(), ", expected ", sizes);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

static llvm::StringMap<const Row *> makeTable() {
  llvm::StringMap<const Row *> table;
  for (ArrayRef<Row> rows :
       {unaryRows(), binaryRows(), shapeRows(), sliceRows(), indexRows(), dotRows(), convRows(),
        linalgRows(), reduceRows(), controlRows(), communicationRows()}) {
    for (const Row &row : rows) {
      table[row.name] = &row;
    }
  }
  return table;
}

static const Row *rowOf(Operation *op) {
  static const llvm::StringMap<const Row *> table = makeTable();
  return table.lookup(op->getName().stripDialect());
}

/// The scales of a per-axis quantized array are one for each index of a dimension that it has.
static bool fitsAxis(RankedTensorType array) {
  auto element = dyn_cast<quant::UniformQuantizedPerAxisType>(array.getElementType());
  if (!element) {
    return true;
  }
  int64_t axis = element.getQuantizedDimension();
  return axis >= 0 && axis < array.getRank() &&
         sizesAgree(array.getDimSize(axis), static_cast<int64_t>(element.getScales().size()));
}

void stablehlo::checkArray(Check &check, StringRef label, StringRef what, Type type,
                           unsigned kinds) {
  // As the HLO front end has it: what rules compute takes up to the square of the rank.
  constexpr int64_t mostDimensions = 256;
  auto tensor = dyn_cast<TensorType>(type);
  RankedTensorType array = arrayOf(type);
  if (array &&
      !check.require(array.getRank() <= mostDimensions, label, what, " has ", array.getRank(),
                     " dimensions, at most ", mostDimensions, " are supported")) {
    return;
  }
  if (!tensor || kinds == 0) {
    return;
  }
  if ((kindOf(tensor.getElementType()) & kinds) == 0) {
    check.fail(label, what, " is ", type, ", expected elements of type ", describeKinds(kinds));
  } else if (array && !fitsAxis(array)) {
    check.fail(label, what, " is ", type, ", whose scales do not fit its shape");
  }
}

bool stablehlo::checkProductElements(Check &check, const ProductLabels &labels,
                                     RankedTensorType lhsArray, RankedTensorType rhsArray,
                                     RankedTensorType resultArray) {
  Type lhs = lhsArray.getElementType(), rhs = rhsArray.getElementType(),
       result = resultArray.getElementType();
  if (!isQuantized(lhs) && !isQuantized(rhs) && !isQuantized(result)) {
    // Two floats, or two integers, of other types are taken as the reference does, and XLA: a
    // product of f8E4M3FN and f8E5M2, or of i8 and ui8.
    bool areAlike =
        (isa<FloatType>(lhs) && isa<FloatType>(rhs)) ||
        (isa<IntegerType>(lhs) && isa<IntegerType>(rhs) && !lhs.isInteger(1) && !rhs.isInteger(1));
    check.require(lhs == rhs || areAlike, labels.equal, "lhs is ", lhsArray, ", rhs ", rhsArray);
    return false;
  }
  if (!check.require(isQuantized(rhs) && isQuantized(lhs) == isQuantized(result), labels.quantized,
                     "of lhs ", lhs, ", rhs ", rhs, " and the result ", result,
                     ", rhs must be quantized, and lhs if the result is")) {
    return false;
  }
  if (isQuantized(lhs)) {
    check.require(storageType(lhs) == storageType(rhs), labels.stored, "the stored types of ", lhs,
                  " and ", rhs, " differ");
    check.require(
        expressedType(lhs) == expressedType(rhs) && expressedType(lhs) == expressedType(result),
        labels.expressed, "the expressed types of ", lhs, ", ", rhs, " and ", result, " differ");
    check.require(isa<quant::UniformQuantizedPerAxisType>(rhs) ||
                      isa<quant::UniformQuantizedType>(result),
                  labels.scales, "rhs has one scale, the result several: ", result);
  } else {
    check.require(lhs == expressedType(rhs) && lhs == result, labels.hybrid, "lhs has elements ",
                  lhs, ", rhs stands for ", expressedType(rhs), ", the result has ", result);
  }
  return true;
}

LogicalResult stablehlo::verifyOp(Operation *op) {
  const Row *row = rowOf(op);
  if (!row) {
    return success();
  }
  Check check(op);
  for (auto [i, type] : llvm::enumerate(op->getOperandTypes())) {
    // The last entry is that of all further operands; without entries any type will do.
    size_t entry = row->operands.empty() ? i : std::min(i, row->operands.size() - 1);
    checkArray(check, "i" + std::to_string(entry + 1), "operand " + std::to_string(i), type,
               row->operands.empty() ? 0 : row->operands[entry]);
  }
  // What is wrong with an operand is mostly wrong with the result too.
  for (auto [i, type] : llvm::enumerate(op->getResultTypes())) {
    if (check.hasFailed()) {
      break;
    }
    checkArray(check, "o" + std::to_string(i + 1), "result " + std::to_string(i), type,
               row->results);
  }
  if (!check.hasFailed() && row->rule) {
    row->rule(check);
  }
  return check.outcome();
}

LogicalResult stablehlo::verifyRegionsOf(Operation *op) {
  const Row *row = rowOf(op);
  Check check(op);
  if (row && row->regions) {
    row->regions(check);
  }
  return check.outcome();
}

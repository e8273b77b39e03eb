//===- Verify.cpp - Rules of shardings ------------------------------------===//
//
// A sharding names axes of a mesh, each at most once. Labels: `mesh` for a mesh that does not
// exist, `axis` for axes that the mesh lacks or that are used twice, `rank` for a sharding whose
// number of dimensions is not that of the array, `values` for lists that do not fit the op.
//
//===----------------------------------------------------------------------===//
#include "dialect/stablehlo/rules/Rule.h"
#include "dialect/stablehlo/sdy/Dialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace {
/// A sharding that is checked where it stands: `report` takes the label and the message.
class ShardingCheck {
public:
  ShardingCheck(sdy::TensorShardingAttr sharding, sdy::MeshAttr mesh,
                function_ref<void(StringRef, const Twine &)> report)
      : sharding(sharding), mesh(mesh), report(report) {}

  bool run(Type type);

private:
  bool checkAxis(sdy::AxisRefAttr axis);
  bool checkDimensions();
  std::pair<int64_t, int64_t> placeOf(sdy::AxisRefAttr axis) const;
  bool fail(StringRef label, const Twine &message) {
    report(label, message);
    return false;
  }

  sdy::TensorShardingAttr sharding;
  sdy::MeshAttr mesh;
  function_ref<void(StringRef, const Twine &)> report;
  SmallVector<sdy::AxisRefAttr> used;
};
} // namespace

static std::string nameOf(sdy::AxisRefAttr axis) {
  std::string text = "\"" + axis.getName().str() + "\"";
  if (sdy::SubAxisInfoAttr part = axis.getSubAxisInfo()) {
    text += ":(" + std::to_string(part.getPreSize()) + ")" + std::to_string(part.getSize());
  }
  return text;
}

/// True if both refer to a common part of an axis.
static bool overlap(sdy::AxisRefAttr a, sdy::AxisRefAttr b) {
  if (a.getName() != b.getName()) {
    return false;
  }
  sdy::SubAxisInfoAttr x = a.getSubAxisInfo(), y = b.getSubAxisInfo();
  if (!x || !y) {
    return true;
  }
  // The products of sizes were checked against that of the axis.
  return x.getPreSize() < y.getPreSize() * y.getSize() &&
         y.getPreSize() < x.getPreSize() * x.getSize();
}

bool ShardingCheck::checkAxis(sdy::AxisRefAttr axis) {
  const auto *found = llvm::find_if(
      mesh.getAxes(), [&](sdy::MeshAxisAttr known) { return known.getName() == axis.getName(); });
  if (found == mesh.getAxes().end()) {
    return fail("axis", "the mesh has no axis " + nameOf(axis));
  }
  if (sdy::SubAxisInfoAttr part = axis.getSubAxisInfo()) {
    int64_t size = found->getSize(), product;
    bool fits = part.getPreSize() >= 1 && part.getSize() >= 2 &&
                !llvm::MulOverflow(part.getPreSize(), part.getSize(), product) && product <= size &&
                size % product == 0 && part.getSize() < size;
    if (!fits) {
      return fail("axis", "axis " + nameOf(axis) + " is no part of an axis of size " + Twine(size));
    }
  }
  for (sdy::AxisRefAttr other : used) {
    if (overlap(axis, other)) {
      return fail("axis", "axes " + nameOf(other) + " and " + nameOf(axis) + " overlap");
    }
  }
  used.push_back(axis);
  return true;
}

/// Where an axis, and its part, is in the mesh.
std::pair<int64_t, int64_t> ShardingCheck::placeOf(sdy::AxisRefAttr axis) const {
  const auto *found = llvm::find_if(
      mesh.getAxes(), [&](sdy::MeshAxisAttr known) { return known.getName() == axis.getName(); });
  sdy::SubAxisInfoAttr part = axis.getSubAxisInfo();
  return {found - mesh.getAxes().begin(), part ? part.getPreSize() : 0};
}

bool ShardingCheck::checkDimensions() {
  for (auto [i, dimension] : llvm::enumerate(sharding.getDimShardings())) {
    if (dimension.getAxes().empty() && dimension.getIsClosed() && dimension.getPriority()) {
      return fail("axis", "dimension " + Twine(i) + " is closed and has no axes, but a priority");
    }
    for (sdy::AxisRefAttr axis : dimension.getAxes()) {
      if (!checkAxis(axis)) {
        return false;
      }
    }
  }
  for (ArrayRef<sdy::AxisRefAttr> axes :
       {sharding.getReplicatedAxes(), sharding.getUnreducedAxes()}) {
    std::pair<int64_t, int64_t> last = {-1, 0};
    for (sdy::AxisRefAttr axis : axes) {
      if (!checkAxis(axis)) {
        return false;
      }
      std::pair<int64_t, int64_t> place = placeOf(axis);
      if (place < last) {
        return fail("axis", "axis " + nameOf(axis) + " is not in the mesh's order");
      }
      last = place;
    }
  }
  return true;
}

bool ShardingCheck::run(Type type) {
  if (!mesh) {
    return fail("mesh", "the mesh of the sharding does not exist");
  }
  bool isFree = sharding.getReplicatedAxes().empty() && sharding.getUnreducedAxes().empty() &&
                sharding.getRank() == 0;
  // All of an array on one device.
  if (mesh.getAxes().empty() && !mesh.getDeviceIds().empty()) {
    return isFree || fail("rank", "a sharding on one device has dimensions or axes");
  }
  auto shaped = dyn_cast_if_present<ShapedType>(type);
  if (type && !shaped && !isFree) {
    return fail("rank", "a value that is no array has a sharding with dimensions or axes");
  }
  if (shaped && (!shaped.hasRank() || shaped.getRank() != sharding.getRank())) {
    return fail("rank",
                "the sharding has " + Twine(sharding.getRank()) + " dimensions, the array " +
                    (shaped.hasRank() ? Twine(shaped.getRank()) : Twine("an unknown number")));
  }
  return checkDimensions();
}

/// Checks a sharding at `op`; `what` begins the message.
static bool checkSharding(Operation *op, const Twine &what, sdy::TensorShardingAttr sharding,
                          Type type) {
  if (!isa<sdy::MeshAttr, FlatSymbolRefAttr>(sharding.getMeshOrRef())) {
    emitError(op->getLoc()) << what << "the sharding has no mesh [sdy_mesh]";
    return false;
  }
  std::string prefix = what.str();
  return ShardingCheck(sharding, sharding.getMesh(op),
                       [&](StringRef label, const Twine &message) {
                         emitError(op->getLoc()) << prefix << message << " [sdy_" << label << ']';
                       })
      .run(type);
}

static bool checkShardings(Operation *op, const Twine &what,
                           std::optional<sdy::TensorShardingPerValueAttr> shardings,
                           TypeRange types) {
  if (!shardings) {
    return true;
  }
  // An op without results may be on one device; a tuple's elements have a sharding each.
  SmallVector<Type> values = llvm::to_vector(types);
  if (types.empty() && shardings->size() == 1) {
    values.push_back(Type());
  } else if (auto tuple = types.size() == 1 ? dyn_cast<TupleType>(types[0]) : TupleType()) {
    values = llvm::to_vector(tuple.getTypes());
  }
  if (shardings->size() != static_cast<int64_t>(values.size())) {
    emitError(op->getLoc()) << what << "there are " << shardings->size() << " shardings of "
                            << values.size() << " values [sdy_values]";
    return false;
  }
  for (auto [sharding, type] : llvm::zip_equal(shardings->getShardings(), values)) {
    if (!checkSharding(op, what, sharding, type)) {
      return false;
    }
  }
  return true;
}

/// All shardings are of one mesh, whose axes the manual ones are; in each dimension these come
/// first.
static bool checkManual(sdy::ManualComputationOp op) {
  auto fail = [&](StringRef label, const Twine &message) {
    emitError(op.getLoc()) << "manual_computation: " << message << " [sdy_" << label << ']';
    return false;
  };
  if (op.getManualAxes().size() > stablehlo::kMostMeshAxes) {
    return fail("axis", "there are " + Twine(op.getManualAxes().size()) + " manual axes, at most " +
                            Twine(stablehlo::kMostMeshAxes) + " are supported");
  }
  sdy::MeshAttr mesh;
  auto isManual = [&](sdy::AxisRefAttr axis) {
    return llvm::any_of(op.getManualAxes(),
                        [&](StringAttr name) { return name == axis.getName(); });
  };
  for (sdy::TensorShardingPerValueAttr list : {op.getInShardings(), op.getOutShardings()}) {
    for (sdy::TensorShardingAttr sharding : list.getShardings()) {
      sdy::MeshAttr own = sharding.getMesh(op);
      if (own.getAxes().empty()) {
        continue;
      }
      if (mesh && own != mesh) {
        return fail("mesh", "the shardings are of different meshes");
      }
      mesh = own;
      for (sdy::DimensionShardingAttr dimension : sharding.getDimShardings()) {
        const auto *free = llvm::find_if_not(dimension.getAxes(), isManual);
        if (std::any_of(free, dimension.getAxes().end(), isManual)) {
          return fail("axis", "a manual axis follows one that is not manual in a dimension");
        }
      }
    }
  }
  for (StringAttr name : op.getManualAxes()) {
    if (mesh && llvm::none_of(mesh.getAxes(),
                              [&](sdy::MeshAxisAttr axis) { return name == axis.getName(); })) {
      return fail("axis", "the mesh has no manual axis \"" + name.getValue() + "\"");
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult sdy::verifyOp(Operation *op) {
  std::string name = op->getName().stripDialect().str() + ": ";
  bool valid = true;
  if (auto computation = dyn_cast<ManualComputationOp>(op)) {
    valid = checkShardings(op, name, computation.getInShardings(), op->getOperandTypes()) &&
            checkShardings(op, name, computation.getOutShardings(), op->getResultTypes()) &&
            checkManual(computation);
  } else if (auto computation = dyn_cast<NamedComputationOp>(op)) {
    valid = checkShardings(op, name, computation.getInShardings(), op->getOperandTypes()) &&
            checkShardings(op, name, computation.getOutShardings(), op->getResultTypes());
  } else if (auto constraint = dyn_cast<ShardingConstraintOp>(op)) {
    valid = checkSharding(op, name, constraint.getSharding(), constraint.getType());
  } else if (auto reshard = dyn_cast<ReshardOp>(op)) {
    valid = checkSharding(op, name, reshard.getSharding(), reshard.getType());
  } else if (auto edge = dyn_cast<DataFlowEdgeOp>(op)) {
    valid = !edge.getSharding() || checkSharding(op, name, *edge.getSharding(), edge.getType());
  } else if (auto group = dyn_cast<ShardingGroupOp>(op)) {
    valid = group.getGroupIdAttr().getInt() >= 0;
    if (!valid) {
      emitError(op->getLoc()) << name << "group_id is negative [sdy_values]";
    }
  } else if (auto barrier = dyn_cast<PropagationBarrierOp>(op)) {
    valid = barrier.getAllowedDirection() != PropagationDirection::BOTH;
    if (!valid) {
      emitError(op->getLoc()) << name << "BOTH directions are no barrier [sdy_values]";
    }
  } else if (auto constant = dyn_cast<ConstantOp>(op)) {
    valid = constant.getValue().getType() == constant.getType();
    if (!valid) {
      emitError(op->getLoc()) << name << "the value is " << constant.getValue().getType()
                              << ", the result " << constant.getType() << " [sdy_values]";
    }
  } else if (auto sharding = op->getAttrOfType<TensorShardingAttr>("out_sharding")) {
    valid = checkSharding(op, name, sharding, op->getResult(0).getType());
  }
  return success(valid);
}

/// Sizes of the shards that one device has of a global array along the manual axes; none if they do
/// not divide.
static Type localType(Type global, sdy::TensorShardingAttr sharding, sdy::MeshAttr mesh,
                      ArrayRef<StringAttr> manual) {
  auto array = dyn_cast<RankedTensorType>(global);
  if (!array || static_cast<int64_t>(sharding.getDimShardings().size()) != array.getRank()) {
    return global;
  }
  SmallVector<int64_t> shape = llvm::to_vector(array.getShape());
  for (auto [size, dimension] : llvm::zip_equal(shape, sharding.getDimShardings())) {
    for (sdy::AxisRefAttr axis : dimension.getAxes()) {
      bool isManual = llvm::any_of(manual, [&](StringAttr n) { return n == axis.getName(); });
      if (!isManual || ShapedType::isDynamic(size)) {
        continue;
      }
      int64_t parts = 1;
      if (sdy::SubAxisInfoAttr part = axis.getSubAxisInfo()) {
        parts = part.getSize();
      } else {
        for (sdy::MeshAxisAttr known : mesh.getAxes()) {
          parts = known.getName() == axis.getName() ? known.getSize() : parts;
        }
      }
      if (size % parts != 0) {
        return nullptr;
      }
      size /= parts;
    }
  }
  return RankedTensorType::get(shape, array.getElementType(), array.getEncoding());
}

/// The values inside of a manual computation are shards of those outside.
static bool checkLocal(Operation *op, StringRef what, TypeRange global, TypeRange local,
                       sdy::TensorShardingPerValueAttr shardings, ArrayRef<StringAttr> manual) {
  if (global.size() != local.size()) {
    emitError(op->getLoc()) << "manual_computation: there are " << local.size() << ' ' << what
                            << " in the body, " << global.size() << " outside [sdy_values]";
    return false;
  }
  for (auto [sharding, outside, inside] :
       llvm::zip_equal(shardings.getShardings(), global, local)) {
    sdy::MeshAttr mesh = sharding.getMesh(op);
    Type expected = localType(outside, sharding, mesh, manual);
    if (!expected || !stablehlo::typesAgree(expected, inside)) {
      auto error = emitError(op->getLoc())
                   << "manual_computation: of the " << what << ", one is " << outside
                   << " outside and " << inside << " in the body";
      if (expected) {
        error << ", expected " << expected;
      }
      error << " [sdy_values]";
      return false;
    }
  }
  return true;
}

LogicalResult sdy::verifyRegionsOf(Operation *op) {
  if (op->getNumRegions() == 0) {
    return success();
  }
  Region &body = op->getRegion(0);
  auto end = body.hasOneBlock() && !body.front().empty() ? dyn_cast<ReturnOp>(body.front().back())
                                                         : ReturnOp();
  if (!end) {
    return emitError(op->getLoc())
           << op->getName().stripDialect()
           << ": the body must be one block that ends in sdy.return [sdy_values]";
  }
  if (auto manual = dyn_cast<ManualComputationOp>(op)) {
    ArrayRef<StringAttr> axes = manual.getManualAxes();
    return success(checkLocal(op, "operands", op->getOperandTypes(), body.getArgumentTypes(),
                              manual.getInShardings(), axes) &&
                   checkLocal(op, "results", op->getResultTypes(), end.getOperandTypes(),
                              manual.getOutShardings(), axes));
  }
  if (!llvm::equal(body.getArgumentTypes(), op->getOperandTypes()) ||
      !llvm::equal(end.getOperandTypes(), op->getResultTypes())) {
    return emitError(op->getLoc())
           << op->getName().stripDialect()
           << ": the types in the body differ from those outside [sdy_values]";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Attributes of other dialects' ops
//===----------------------------------------------------------------------===//

/// `sdy.sharding` of an argument or a result of a function.
static LogicalResult verifyOfFunction(Operation *op, StringRef what, unsigned index,
                                      NamedAttribute attribute, Type type) {
  if (attribute.getName() != "sdy.sharding") {
    return success();
  }
  auto sharding = dyn_cast<sdy::TensorShardingAttr>(attribute.getValue());
  if (!sharding) {
    return emitError(op->getLoc())
           << "sdy.sharding of " << what << ' ' << index << " is no sharding [sdy_values]";
  }
  return success(checkSharding(op, what + Twine(' ') + Twine(index) + ": ", sharding, type));
}

LogicalResult sdy::SdyDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned index,
                                                        NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  Type type =
      function && index < function.getNumArguments() ? function.getArgumentTypes()[index] : Type();
  return verifyOfFunction(op, "argument", index, attribute, type);
}

LogicalResult sdy::SdyDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned index,
                                                           NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  Type type =
      function && index < function.getNumResults() ? function.getResultTypes()[index] : Type();
  return verifyOfFunction(op, "result", index, attribute, type);
}

LogicalResult sdy::SdyDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() != "sdy.sharding") {
    return success();
  }
  // Functions and unit ops carry shardings of no value.
  if (auto shardings = dyn_cast<TensorShardingPerValueAttr>(attribute.getValue())) {
    return success(checkShardings(op, "sdy.sharding: ", shardings, op->getResultTypes()));
  }
  return emitError(op->getLoc()) << "sdy.sharding of an op is no list of shardings [sdy_values]";
}

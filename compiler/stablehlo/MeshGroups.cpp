//===- MeshGroups.cpp - Groups of devices along axes of a mesh ------------===//
//
//   mesh x=2, y=3, groups along y    {{0,1,2},{3,4,5}}
//   along x                          {{0,3},{1,4},{2,5}}
//
// Devices are numbered row-major over the axes, or as the mesh's list of device ids says. A part of
// an axis, `(before)size`, is the digit of that size after one of size `before`.
//
//===----------------------------------------------------------------------===//
#include "compiler/stablehlo/MeshGroups.h"
#include "dialect/stablehlo/sdy/Dialect.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace hlo::stable;
using llvm::StringRef;

namespace {
/// More devices than any machine has; a mesh is some numbers, the groups are lists.
constexpr int64_t kMostDevices = 1 << 17;

struct Mesh {
  SmallVector<std::pair<StringRef, int64_t>> axes;
  SmallVector<int64_t> devices;
};

/// A digit of a device's number: (number / stride) % size.
struct Digit {
  int64_t stride, size;
};
} // namespace

static FailureOr<Mesh> findMesh(Operation *op, Attribute attribute) {
  Mesh mesh;
  if (auto own = dyn_cast<stablehlo::MeshAttr>(attribute)) {
    for (stablehlo::MeshAxisAttr axis : own.getAxes()) {
      mesh.axes.emplace_back(axis.getName(), axis.getSize());
    }
    if (DenseIntElementsAttr ids = own.getDeviceIds()) {
      for (const APInt &id : ids.getValues<APInt>()) {
        mesh.devices.push_back(id.getSExtValue());
      }
    }
    return mesh;
  }
  auto symbol = dyn_cast<FlatSymbolRefAttr>(attribute);
  auto found =
      symbol ? SymbolTable::lookupNearestSymbolFrom<sdy::MeshOp>(op, symbol) : sdy::MeshOp();
  if (!found) {
    return op->emitOpError() << "names a mesh that the module does not have";
  }
  for (sdy::MeshAxisAttr axis : found.getMesh().getAxes()) {
    mesh.axes.emplace_back(axis.getName(), axis.getSize());
  }
  llvm::append_range(mesh.devices, found.getMesh().getDeviceIds());
  return mesh;
}

FailureOr<std::string> hlo::stable::meshGroupsText(Operation *op,
                                                   stablehlo::ReplicaGroupMeshAxesAttr groups) {
  FailureOr<Mesh> mesh = findMesh(op, groups.getMesh());
  if (failed(mesh)) {
    return failure();
  }
  int64_t count = 1;
  for (auto [name, size] : mesh->axes) {
    if (size <= 0 || count > kMostDevices / size) {
      return op->emitOpError() << "has groups over a mesh of more than " << kMostDevices
                               << " devices";
    }
    count *= size;
  }
  if (!mesh->devices.empty() && static_cast<int64_t>(mesh->devices.size()) != count) {
    return op->emitOpError() << "has groups over a mesh of " << count << " devices with "
                             << mesh->devices.size() << " ids";
  }
  SmallVector<Digit> digits;
  for (auto axis : groups.getAxes().getAsRange<stablehlo::AxisRefAttr>()) {
    int64_t stride = 1, size = 0;
    for (auto [name, extent] : llvm::reverse(mesh->axes)) {
      if (name == axis.getName()) {
        size = extent;
        break;
      }
      stride *= extent;
    }
    if (stablehlo::SubAxisInfoAttr part = axis.getSubAxisInfo(); part && size != 0) {
      int64_t before = part.getPreSize();
      if (before <= 0 || part.getSize() <= 0 || size % before != 0 ||
          size / before % part.getSize() != 0) {
        return op->emitOpError() << "names a part of axis \"" << axis.getName()
                                 << "\" that it does not have";
      }
      stride *= size / before / part.getSize();
      size = part.getSize();
    }
    if (size == 0) {
      return op->emitOpError() << "names axis \"" << axis.getName()
                               << "\", which the mesh does not have";
    }
    digits.push_back({stride, size});
  }
  // Devices by what is left of their number without the digits, and in the order of the digits.
  llvm::MapVector<int64_t, SmallVector<std::pair<int64_t, int64_t>>> members;
  for (int64_t number = 0; number < count; ++number) {
    int64_t rest = number, place = 0;
    for (Digit digit : digits) {
      int64_t value = number / digit.stride % digit.size;
      rest -= value * digit.stride;
      place = place * digit.size + value;
    }
    members[rest].emplace_back(place, mesh->devices.empty() ? number : mesh->devices[number]);
  }
  SmallVector<std::string> lists;
  for (auto &[rest, group] : members) {
    llvm::sort(group);
    lists.push_back(
        "{" +
        llvm::join(llvm::map_range(group, [](auto &each) { return std::to_string(each.second); }),
                   ",") +
        "}");
  }
  return "{" + llvm::join(lists, ",") + "}";
}

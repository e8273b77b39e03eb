//===- Annotation.cpp - What a user said about the sharding of a value ----===//
#include "compiler/transforms/spmd/Annotation.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::spmd;

/// `0,1;2?p1;|group|manual|devices`
std::string hlo::spmd::encode(const Annotation &annotation) {
  std::string text;
  for (auto [i, axes] : llvm::enumerate(annotation.sharding.dims)) {
    for (auto [n, axis] : llvm::enumerate(axes)) {
      text += (n ? "," : "") + std::to_string(axis);
    }
    text += annotation.open[i] ? "?" : "";
    text += "p" + std::to_string(annotation.priority[i]) + ";";
  }
  text += "|" + (annotation.group ? std::to_string(*annotation.group) : "");
  text += "|" + std::to_string(annotation.manual) + "|";
  for (auto [i, partition] : llvm::enumerate(annotation.partitionAt)) {
    text += (i ? "," : "") + std::to_string(partition);
  }
  return text;
}

Annotation hlo::spmd::decode(StringRef text) {
  SmallVector<StringRef> parts, dims;
  text.split(parts, '|');
  parts.resize(4);
  parts[0].split(dims, ';', -1, /*KeepEmpty=*/false);
  Annotation annotation(dims.size(), false);
  for (auto [i, dim] : llvm::enumerate(dims)) {
    auto [axes, priority] = dim.split('p');
    annotation.open[i] = axes.consume_back("?");
    (void)priority.getAsInteger(10, annotation.priority[i]);
    SmallVector<StringRef> numbers;
    axes.split(numbers, ',', -1, /*KeepEmpty=*/false);
    for (StringRef number : numbers) {
      unsigned axis = 0;
      (void)number.getAsInteger(10, axis);
      annotation.sharding.dims[i].push_back(axis);
    }
  }
  int64_t group = 0;
  if (!parts[1].getAsInteger(10, group)) {
    annotation.group = group;
  }
  (void)parts[2].getAsInteger(10, annotation.manual);
  SmallVector<StringRef> devices;
  parts[3].split(devices, ',', -1, /*KeepEmpty=*/false);
  for (StringRef device : devices) {
    (void)device.getAsInteger(10, annotation.partitionAt.emplace_back());
  }
  return annotation;
}

Attribute hlo::spmd::encodeMesh(const Mesh &mesh, MLIRContext *context) {
  Builder b(context);
  SmallVector<int64_t> sizes, order, runs;
  for (unsigned axis = 0; axis < mesh.axes(); ++axis) {
    sizes.push_back(mesh.size(axis));
  }
  for (int64_t position = 0; !mesh.hasDefaultOrder() && position < mesh.partitions(); ++position) {
    order.push_back(mesh.partitionAt(position));
  }
  SmallVector<StringRef> names;
  for (const Mesh::Named &each : mesh.named) {
    names.push_back(each.name);
    runs.append({each.first, each.count});
  }
  return b.getDictionaryAttr({b.getNamedAttr("sizes", b.getDenseI64ArrayAttr(sizes)),
                              b.getNamedAttr("order", b.getDenseI64ArrayAttr(order)),
                              b.getNamedAttr("names", b.getStrArrayAttr(names)),
                              b.getNamedAttr("runs", b.getDenseI64ArrayAttr(runs))});
}

Mesh hlo::spmd::decodeMesh(Attribute attribute) {
  auto dictionary = cast<DictionaryAttr>(attribute);
  Mesh mesh(dictionary.getAs<DenseI64ArrayAttr>("sizes").asArrayRef(),
            dictionary.getAs<DenseI64ArrayAttr>("order").asArrayRef());
  ArrayRef<int64_t> runs = dictionary.getAs<DenseI64ArrayAttr>("runs").asArrayRef();
  for (auto [i, name] : llvm::enumerate(dictionary.getAs<ArrayAttr>("names"))) {
    mesh.named.push_back({cast<StringAttr>(name).getValue().str(), static_cast<Axis>(runs[2 * i]),
                          static_cast<Axis>(runs[2 * i + 1])});
  }
  return mesh;
}

StringRef hlo::spmd::markerOf(Operation *op) {
  auto call = dyn_cast<CustomCallOp>(op);
  StringRef target = call ? call.getCustomCallTarget() : StringRef();
  return llvm::is_contained({kMarkSharding, kMarkBarrier, kMarkEnter, kMarkExit}, target)
             ? target
             : StringRef();
}

std::optional<Annotation> hlo::spmd::annotationOf(Operation *op) {
  auto text = op->getAttrOfType<StringAttr>(kAnnotation);
  return text ? std::optional(decode(text.getValue())) : std::nullopt;
}

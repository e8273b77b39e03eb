//===- Conv.cpp - Kernels around an hlo.convolution -----------------------===//
//
// Emits a fusion of one convolution, producers of its operands, and element-wise ops on its
// result, as a contraction (see dot/Contraction.h):
//
//   batch  the feature or batch groups
//   m      output batch and output positions, in the order of the output
//   n      output features of a group
//   k      taps and input features of a group
//
// If the window is a single tap without padding, or there is a single output position, it is the
// contraction of a dot with plain strides. A convolution in which each output feature reads one
// input feature has a form of its own (Depthwise.cpp).
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/HeroKernel.h"
#include "compiler/codegen/contraction/MatrixKernel.h"
#include "compiler/codegen/conv/ConvCycles.h"
#include "compiler/codegen/conv/DirectPlan.h"
#include "compiler/codegen/conv/KernelGradient.h"
#include "compiler/codegen/conv/WayCosts.h"
#include "compiler/codegen/dot/BlockPlan.h"
#include "compiler/codegen/dot/Forms.h"
#include "compiler/codegen/dot/PackedRhs.h"
#include "compiler/machine/Costs.h"
#include <cmath>

using namespace mlir;

namespace hlo::codegen {

/// Whether there is one output position, with a window that does not leave the input: a whole image
/// of weights, or the gradient of a kernel of one tap.
static bool isOnePosition(const ConvGeometry &g) {
  return g.groups() == 1 && llvm::all_of(g.spatial, [](const SpatialDim &d) {
           return d.output == 1 && d.padLow == 0 && d.inputDilation == 1 && !d.reversed &&
                  d.isInside();
         });
}

// The dimensions of a convolution as a problem, by their numbers in input, kernel and result. Those
// of the input: batch, features, groups, and an output position and a tap per spatial dimension;
// the result's: its own, and groups.
static constexpr int64_t kBatch = 0, kFeature = 1, kGroup = 2;
static int64_t outputDim(int64_t spatial) { return 3 + 2 * spatial; }
static int64_t tapDim(int64_t spatial) { return 4 + 2 * spatial; }

static Problem::Array inputArray(Emission &e, const ConvOperands &operands, bool hasBorders) {
  const ConvGeometry &g = operands.g;
  ArrayRef<int64_t> strides = operands.input->strides();
  int64_t batch = strides[g.inputBatchDim], feature = strides[g.inputFeatureDim];
  Problem::Array array{
      operands.input,
      {batch, feature, g.batchGroups > 1 ? batch * g.outputBatch : feature * g.kernelInputFeatures},
      operands.input->isStrided() && !hasBorders,
      {}};
  for (const SpatialDim &dim : g.spatial) {
    int64_t stride = dim.inputDilation > 1 ? 0 : strides[dim.inputDim];
    array.strides.append({stride * dim.stride, hasBorders ? 0 : stride * dim.kernelDilation});
  }
  array.read = [&e, operands](ArrayRef<Index> index, int64_t lanes, Value mask) {
    const ConvGeometry &g = operands.g;
    Index batch = index[kBatch], feature = index[kFeature];
    if (g.batchGroups > 1) {
      batch = addIndex(e, batch, mulIndex(e, index[kGroup], g.outputBatch), lanes);
    }
    if (g.featureGroups > 1) {
      feature = addIndex(e, feature, mulIndex(e, index[kGroup], g.kernelInputFeatures), lanes);
    }
    SmallVector<Index> output, tap;
    for (size_t d = 0; d < g.spatial.size(); ++d) {
      output.push_back(index[outputDim(d)]);
      tap.push_back(index[tapDim(d)]);
    }
    return operands.readInput(e, batch, feature, output, tap, lanes, mask);
  };
  return array;
}

/// `index`, moved to the features of its group.
static Index featureInGroup(Emission &e, const ConvGeometry &g, ArrayRef<Index> index,
                            const Index &group, int64_t feature, int64_t lanes) {
  return g.groups() > 1 ? addIndex(e, index[feature], mulIndex(e, group, g.groupFeatures()), lanes)
                        : index[feature];
}

/// Whether the kernel is a matrix of channels and features.
static bool hasOneTap(const ConvGeometry &g) {
  return g.groups() == 1 &&
         llvm::all_of(g.spatial, [](const SpatialDim &dim) { return dim.kernel == 1; });
}

static Problem::Array kernelArray(Emission &e, const ConvOperands &operands) {
  const ConvGeometry &g = operands.g;
  SmallVector<int64_t> strides(operands.kernel->strides());
  strides.push_back(strides[g.kernelOutputDim] * g.groupFeatures());
  bool isReversed =
      llvm::any_of(g.spatial, [](const SpatialDim &dim) { return dim.reversed && dim.kernel > 1; });
  Problem::Array array{operands.kernel, strides, operands.kernel->isStrided() && !isReversed, {}};
  if (hasOneTap(g)) {
    array.panels = operands.kernel->panels();
  }
  array.read = [&e, operands](ArrayRef<Index> index, int64_t lanes, Value mask) {
    const ConvGeometry &g = operands.g;
    Index feature = featureInGroup(e, g, index, index.back(), g.kernelOutputDim, lanes);
    SmallVector<Index> tap;
    for (const SpatialDim &dim : g.spatial) {
      tap.push_back(index[dim.kernelDim]);
    }
    return operands.readKernel(e, index[g.kernelInputDim], feature, tap, lanes, mask);
  };
  return array;
}

/// `isImages`: each image is a product. `featuresLast`: input features are the last dimension of k,
/// wherever the input has them.
static Problem problemOf(Emission &e, ConvolutionOp op, const ConvOperands &operands, bool isImages,
                         bool featuresLast) {
  const ConvGeometry &g = operands.g;
  int64_t rank = g.spatial.size() + 2;
  Problem problem;
  problem.hasBorders = llvm::any_of(g.spatial, [](const SpatialDim &dim) {
    return dim.padLow != 0 || dim.inputDilation > 1 || !dim.isInside();
  });
  problem.lhs = inputArray(e, operands, problem.hasBorders);
  problem.rhs = kernelArray(e, operands);
  problem.outStrides = rowMajorStrides(shapeOf(op.getResult()));
  problem.outStrides.push_back(problem.outStrides[g.outputFeatureDim] * g.groupFeatures());
  problem.outIndex = [&e, g](ArrayRef<Index> index, int64_t lanes) {
    SmallVector<Index> full(index.drop_back());
    full[g.outputFeatureDim] = featureInGroup(e, g, index, index.back(), g.outputFeatureDim, lanes);
    return full;
  };
  problem.batch.push_back({g.groups(), kGroup, rank, rank});
  problem.n.push_back({g.groupFeatures(), -1, g.kernelOutputDim, g.outputFeatureDim});
  (isImages ? problem.batch : problem.m).push_back({g.outputBatch, kBatch, -1, g.outputBatchDim});
  // Those of k in the order of the input's dimensions, so that its last steps least.
  SmallVector<Problem::Dim> inOrder(rank, {1});
  inOrder[g.inputFeatureDim] = {g.kernelInputFeatures, kFeature, g.kernelInputDim, -1};
  for (auto [d, dim] : llvm::enumerate(g.spatial)) {
    problem.m.push_back({dim.output, outputDim(d), -1, dim.outputDim});
    inOrder[dim.inputDim] = {dim.kernel, tapDim(d), dim.kernelDim, -1};
  }
  llvm::sort(problem.m, [](const Problem::Dim &a, const Problem::Dim &b) { return a.out < b.out; });
  problem.k = inOrder;
  if (featuresLast) {
    std::rotate(problem.k.begin() + g.inputFeatureDim, problem.k.begin() + g.inputFeatureDim + 1,
                problem.k.end());
  }
  return problem;
}

/// The number of products of integers of at most 8 bits whose sum in f32, whose multiply-add is one
/// instruction, is exact; 0 for other types.
static int64_t exactSteps(const ConvOperands &operands) {
  int64_t product = 1;
  for (const Operand *operand : {operands.input.get(), operands.kernel.get()}) {
    auto type = operand->isStrided() ? dyn_cast<IntegerType>(operand->storage()) : IntegerType();
    if (!type || type.getWidth() > 8 || type.getWidth() == 1) {
      return 0;
    }
    product <<= isUnsignedElement(type) ? type.getWidth() : type.getWidth() - 1;
  }
  return operands.element.isInteger(32) ? (int64_t(1) << 24) / product : 0;
}

/// What every element of an operand is, if products of groups know it.
using Narrow = std::optional<std::pair<Number, Number>>;
static Narrow narrowNumbers(const ConvOperands &operands) {
  auto numberIn = [&](const Operand &operand) -> std::optional<Number> {
    if (operands.element.isF32()) {
      return operand.holdsBf16() ? std::optional(kBf16) : std::nullopt;
    }
    Type type = operands.element.isInteger(32) ? operand.narrowInteger() : Type();
    return type && type.getIntOrFloatBitWidth() > 1 ? std::optional(numberOf(type)) : std::nullopt;
  };
  std::optional<Number> input = numberIn(*operands.input), kernel = numberIn(*operands.kernel);
  return input && kernel ? Narrow({*input, *kernel}) : std::nullopt;
}

static SmallVector<const Product *, 4> vectorProducts(const ConvOperands &operands,
                                                      const Machine &machine) {
  Narrow numbers = narrowNumbers(operands);
  if (!numbers) {
    return {};
  }
  return machine.vectorProducts(numbers->first, numbers->second,
                                numbers->first.isInteger() ? kS32 : kF32);
}

/// Whether groups of channels lie inside groups of features.
static bool holdsWholeGroups(const ConvGeometry &g, const Product &product) {
  return g.groups() == 1 || g.kernelInputFeatures % product.group == 0;
}

/// The product that multiplies groups of adjacent channels, for the direct form; null if none is
/// faster. Groups of features must hold whole groups of channels.
static const Product *directProduct(const ConvOperands &operands, const Machine &machine) {
  auto products = vectorProducts(operands, machine);
  if (products.empty()) {
    return nullptr;
  }
  const Product *product = products.front();
  // The alternative multiplies single channels as f32.
  int64_t channels = operands.g.kernelInputFeatures, groups = product->group;
  bool isFaster = llvm::divideCeil(channels, groups) * product->cost < channels;
  return channels > 1 && isFaster && holdsWholeGroups(operands.g, *product) ? product : nullptr;
}

/// The operands with adjacent channels as groups.
static ConvOperands groupChannels(KernelBuilder &kernel, ConvolutionOp op,
                                  const ConvOperands &operands, const Product &product) {
  ConvOperands result = operands;
  ConvGeometry &g = result.g;
  KGroup group = groupOf(&product);
  result.product = &product;
  result.group = group;
  result.input = std::make_shared<Operand>(kernel, op.getLhs(), operands.element);
  result.kernel = std::make_shared<Operand>(kernel, op.getRhs(), operands.element);
  if (product.operand.isInteger() && product.signs != Product::Signs::Signed) {
    result.kernelUnsigned = isUnsignedElement(result.kernel->narrowInteger());
    result.inputUnsigned = isUnsignedElement(result.input->narrowInteger());
    result.flipsInput = product.signs == Product::Signs::OneUnsigned &&
                        result.inputUnsigned == result.kernelUnsigned;
  }
  result.input->groupAlong(g.inputFeatureDim, group, operands.element, result.flipsInput);
  result.kernel->groupAlong(g.kernelInputDim, group, operands.element, /*flips=*/false);
  g.kernelInputFeatures = llvm::divideCeil(g.kernelInputFeatures, sizeOf(group));
  g.inputFeatures = llvm::divideCeil(g.inputFeatures, sizeOf(group));
  return result;
}

namespace {
/// The ways to make one convolution, in the order in which they are asked whether they take it.
/// All but the contraction have forms of their own.
class Ways {
public:
  Ways(KernelBuilder &kernel, ConvolutionOp op, Epilogue &epilogue)
      : kernel(kernel), op(op), epilogue(epilogue), machine(kernel.e.machine), g(op),
        element(accumulationType(elementType(op.getLhs().getType()),
                                 elementType(op.getRhs().getType()),
                                 elementType(op.getResult().getType()))) {
    isPointwise = g.groups() == 1 &&
                  llvm::all_of(g.spatial, [](const SpatialDim &d) { return d.isPointwise(); });
    isOne = !isPointwise && isOnePosition(g);
  }

  /// Whether a convolution that the depthwise form takes is faster in the direct one.
  bool prefersDirect();
  /// The first way that takes the convolution, or the one that kernel.choice forces; all are noted
  /// there.
  void emit();
  /// The candidates, as emit() notes them; nothing is emitted but what plans need.
  double cycles();

private:
  struct Direct {
    ConvOperands operands;
    DirectPlan plan;
  };
  ConvOperands operandsAs(Type type) {
    ConvOperands operands{g, type, std::make_shared<Operand>(kernel, op.getLhs(), type),
                          std::make_shared<Operand>(kernel, op.getRhs(), type)};
    operands.storesPanels = kernel.panels || operands.kernel->panels();
    return operands;
  }
  std::optional<Direct> planMatrix();
  std::optional<Direct> planGroups();
  std::optional<Direct> planSingle();
  std::optional<Contraction> patches();
  ConvOperands depthwiseOperands();
  Contraction contraction();
  /// Whether the result holds only the sums.
  bool isPlain() const { return epilogue.isIdentity() && epilogue.heroElement() == element; }

  KernelBuilder &kernel;
  ConvolutionOp op;
  Epilogue &epilogue;
  const Machine &machine;
  ConvGeometry g;
  Type element;
  bool isPointwise, isOne, isOnlyAsked = false;
};
} // namespace

static constexpr int64_t kAny = std::numeric_limits<int64_t>::max();

/// The direct form by matrix registers, if they are faster than vectors.
std::optional<Ways::Direct> Ways::planMatrix() {
  ConvOperands operands = operandsAs(element);
  Narrow numbers = narrowNumbers(operands);
  const Product *product = numbers ? squareProduct(machine, numbers->first, numbers->second,
                                                   numbers->first.isInteger() ? kS32 : kF32)
                                   : nullptr;
  if (!product || !holdsWholeGroups(g, *product)) {
    return std::nullopt;
  }
  ConvOperands grouped = groupChannels(kernel, op, operands, *product);
  auto vectors = vectorProducts(operands, machine);
  double vectorSpeed = vectors.empty() ? 1 : vectors.front()->speed();
  std::optional<DirectPlan> plan = planDirect(grouped, machine, kAny);
  if (!plan || !prefersMatrix(*plan, *product, machine, vectorSpeed)) {
    return std::nullopt;
  }
  return Direct{grouped, *plan};
}

/// A kernel gradient as a product of patches by matrix registers, which pays for writing the
/// patches if it is much faster than vectors. Groups of registers do not cross the end of a
/// dimension of k: positions of the image or images are the last one.
std::optional<Contraction> Ways::patches() {
  ConvOperands operands = operandsAs(element);
  if (isOne || !isKernelGradient(operands)) {
    return std::nullopt;
  }
  for (bool featuresLast : {false, true}) {
    Contraction c = makeContraction(
        kernel, op, element, problemOf(kernel.e, op, operands, /*isImages=*/false, featuresLast));
    if (prefersMatrix(c)) {
      return c;
    }
  }
  return std::nullopt;
}

/// The direct form with channels in groups.
std::optional<Ways::Direct> Ways::planGroups() {
  ConvOperands operands = operandsAs(element);
  const Product *product = directProduct(operands, machine);
  if (!product) {
    return std::nullopt;
  }
  ConvOperands grouped = groupChannels(kernel, op, operands, *product);
  std::optional<DirectPlan> plan = planDirect(grouped, machine, kAny);
  return plan ? std::optional(Direct{grouped, *plan}) : std::nullopt;
}

/// The direct form with single channels.
std::optional<Ways::Direct> Ways::planSingle() {
  int64_t exact = exactSteps(operandsAs(element));
  ConvOperands operands =
      operandsAs(exact > 0 ? Type(Float32Type::get(element.getContext())) : element);
  std::optional<DirectPlan> plan = planDirect(operands, machine, exact > 0 ? exact : kAny);
  return plan ? std::optional(Direct{operands, *plan}) : std::nullopt;
}

/// The operands of the depthwise form. Its channels are never added to each other, so there are no
/// groups for instructions that multiply bytes, and multiply-adds of f32 are faster than those of
/// integers.
ConvOperands Ways::depthwiseOperands() {
  ConvOperands operands = operandsAs(element);
  int64_t taps = 1;
  for (const SpatialDim &dim : g.spatial) {
    taps *= dim.kernel;
  }
  bool isExact = machine.fma && taps <= exactSteps(operands);
  return isExact ? operandsAs(Float32Type::get(element.getContext())) : operands;
}

Contraction Ways::contraction() {
  // If features are outside positions, each image is a product.
  bool isImages = isPointwise && g.outputFeatureDim != static_cast<int64_t>(g.spatial.size()) + 1;
  Contraction c = makeContraction(
      kernel, op, element,
      problemOf(kernel.e, op, operandsAs(element), isImages, /*featuresLast=*/false));
  if (cast<RankedTensorType>(op.getLhs().getType()).getNumElements() == 0) {
    // Everything is padding.
    c.k.assign(1, 0);
  }
  return c;
}

bool Ways::prefersDirect() {
  // What the model is good for: with 64-byte vectors 7x7 on 56x56x96 takes 0.77 of the cycles by
  // it, 0.73 measured; groups of 2 on 64x14x14 0.91 and 1.7.
  constexpr double kCertain = 0.8;
  std::optional<Direct> direct = planSingle();
  return direct && describeDirect("", direct->operands, direct->plan, machine).cycles <
                       kCertain * describeDepthwise(depthwiseOperands(), machine).cycles;
}

void Ways::emit() {
  std::vector<PlanCandidate> candidates;
  SmallVector<std::function<void()>> emitters;
  std::optional<size_t> best;
  // Emits a way that takes the convolution, if it is the first; where all ways are noted, keeps it
  // for later. Returns whether nothing else is asked.
  auto offer = [&](bool takes, function_ref<PlanCandidate()> describe,
                   std::function<void()> emitter) {
    if (!kernel.choice) {
      if (takes) {
        emitter();
      }
      return takes;
    }
    if (takes && !best) {
      best = candidates.size();
    }
    candidates.push_back(describe());
    emitters.push_back(std::move(emitter));
    return false;
  };
  if (kernel.panels && (isDepthwise(g) || kernel.panels->operand != 1)) {
    return;
  }
  bool isSingle = isDepthwise(g), isDirect = isSingle && prefersDirect(), all = kernel.choice;
  if (isSingle && offer(
                      !isDirect, [&] { return describeDepthwise(depthwiseOperands(), machine); },
                      [&] { emitDepthwise(kernel, op, depthwiseOperands(), epilogue); })) {
    return;
  }
  std::optional<Contraction> ofPatches = all || !isDirect ? patches() : std::nullopt;
  auto describePatches = [&] {
    PlanCandidate candidate = describeForm(*ofPatches, preferredForm(*ofPatches), isPlain());
    candidate.name = "patches";
    return candidate;
  };
  if (ofPatches && offer(!isDirect, describePatches,
                         [&] { emitForm(*ofPatches, epilogue, preferredForm(*ofPatches)); })) {
    return;
  }
  ConvOperands operands = operandsAs(element);
  if (std::optional<GradientPlan> plan = planGradient(operands, machine);
      plan && offer(
                  !isOne && !isDirect, [&] { return describeGradient(operands, *plan, machine); },
                  [&, plan] { emitGradient(kernel, operands, epilogue, *plan); })) {
    return;
  }
  bool isWindowed = !isPointwise && !isOne;
  auto offerDirect = [&](StringRef name, bool takes, auto plan) {
    std::optional<Direct> direct = all || takes ? (this->*plan)() : std::nullopt;
    return direct &&
           offer(
               takes, [&] { return describeDirect(name, direct->operands, direct->plan, machine); },
               [&, direct] {
                 if (kernel.panels) {
                   if (direct->plan.kernelStored) {
                     kernel.panels->layout = storedLayout(direct->plan, direct->operands.group);
                   }
                   return;
                 }
                 emitDirect(kernel, op, direct->operands, epilogue, direct->plan, element);
               });
  };
  if (offerDirect("direct-matrix", isWindowed && !isDirect, &Ways::planMatrix) ||
      offerDirect("direct-groups", isWindowed && !isDirect, &Ways::planGroups) ||
      offerDirect("direct", isWindowed || isDirect, &Ways::planSingle)) {
    return;
  }
  Contraction c = contraction();
  if (kernel.panels) {
    if (hasOneTap(g)) {
      kernel.panels->layout = packedPanels(c, /*isLhs=*/false);
    }
    return;
  }
  ContractionForm preferred = preferredForm(c);
  if (!all) {
    emitForm(c, epilogue, preferred);
    return;
  }
  for (const ContractionForm &form : possibleForms(c)) {
    offer(
        form == preferred, [&] { return describeForm(c, form, isPlain()); },
        [&, form] { emitForm(c, epilogue, form); });
  }
  size_t chosen = chooseCandidate(kernel, std::move(candidates), *best);
  if (!isOnlyAsked) {
    emitters[chosen]();
  }
}

double Ways::cycles() {
  KernelChoice choice;
  kernel.choice = &choice;
  isOnlyAsked = true;
  emit();
  return choice.candidates[choice.chosen].cycles;
}

LogicalResult emitConvKernel(KernelBuilder &kernel) {
  auto op = findHero<ConvolutionOp>(kernel);
  if (!op) {
    return kernel.fusion.emitOpError("of strategy 'conv' holds no convolution");
  }
  FailureOr<Epilogue> epilogue = Epilogue::create(kernel, op);
  if (failed(epilogue)) {
    return failure();
  }
  Ways(kernel, op, *epilogue).emit();
  return success();
}

double transposeCycles(RankedTensorType type, const Machine &machine) {
  double bytes = static_cast<double>(type.getNumElements()) * storageBytes(type.getElementType());
  LoopBody body;
  body.loads = body.stores = 1;
  // Squares of vectors: each vector is shuffled once for each doubling of the lanes.
  body.shuffles =
      std::log2(std::max(2.0, machine.vectors.bytes * 1.0 / storageBytes(type.getElementType())));
  body.bytes = 2.0 * machine.vectors.bytes;
  body.level = levelOf(machine, 2 * bytes);
  body.trips = bytes / machine.vectors.bytes;
  // The tasks of one kernel more.
  constexpr double kKernelStart = 2000;
  return kKernelStart + cyclesOfLoop(machine, body);
}

double convolutionCycles(ConvolutionOp conv, const Machine &machine) {
  if (elementsOf(conv.getLhs()) == 0 || elementsOf(conv.getResult()) == 0 ||
      elementsOf(conv.getRhs()) == 0) {
    return 0;
  }
  OwningOpRef<ModuleOp> scratch = ModuleOp::create(conv.getLoc());
  OwningOpRef<FusionOp> fusion = heroKernel(conv, Strategy::Conv);
  OpBuilder builder = OpBuilder::atBlockEnd(scratch->getBody());
  auto pointer = LLVM::LLVMPointerType::get(conv.getContext());
  SmallVector<Type> parameters(3, pointer);
  parameters.append(2, builder.getI64Type());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(conv.getContext()), parameters);
  auto function = LLVM::LLVMFuncOp::create(builder, conv.getLoc(), "cycles", type);
  Block *body = function.addEntryBlock(builder);
  builder.setInsertionPointToEnd(body);
  builder.setInsertionPoint(LLVM::ReturnOp::create(builder, conv.getLoc(), ValueRange{}));
  KernelBuilder kernel{Emission{{builder, conv.getLoc()}, machine},
                       *fusion,
                       *scratch,
                       {body->getArgument(0), body->getArgument(1)},
                       {body->getArgument(2)},
                       body->getArgument(3),
                       body->getArgument(4)};
  auto op = findHero<ConvolutionOp>(kernel);
  FailureOr<Epilogue> epilogue = Epilogue::create(kernel, op);
  if (failed(epilogue)) {
    return 0;
  }
  // The forms are modelled for input and result in one order. With features innermost in only one
  // of them, vectors are transposed on the way: at most what a transpose of the input takes.
  ConvDimsAttr dims = conv.getDimLabels();
  auto input = cast<RankedTensorType>(conv.getLhs().getType());
  bool isMixed = (dims.getInputFeature() == input.getRank() - 1) !=
                 (dims.getOutputFeature() == input.getRank() - 1);
  double mixed = isMixed ? transposeCycles(input, machine) : 0;
  return Ways(kernel, op, *epilogue).cycles() + mixed;
}

} // namespace hlo::codegen

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
#include "compiler/codegen/contraction/MatrixKernel.h"
#include "compiler/codegen/conv/DirectPlan.h"
#include "compiler/codegen/conv/KernelGradient.h"
#include "compiler/codegen/conv/WayCosts.h"
#include "compiler/codegen/dot/BlockPlan.h"
#include "compiler/codegen/dot/Forms.h"

using namespace mlir;

namespace hlo::codegen {

/// A convolution of one tap per output element, as a dot over features.
static Contraction pointwiseContraction(KernelBuilder &kernel, ConvolutionOp op,
                                        const ConvOperands &operands) {
  using Dim = DimensionGroups::Dim;
  const ConvGeometry &g = operands.g;
  DimensionGroups groups;
  // If features are outside positions, each image is a product.
  bool featuresInnermost = g.outputFeatureDim == static_cast<int64_t>(g.spatial.size()) + 1;
  (featuresInnermost ? groups.m : groups.batch)
      .push_back(Dim{g.outputBatch, g.inputBatchDim, -1, g.outputBatchDim});
  for (const SpatialDim &dim : g.spatial) {
    operands.input->setStep(dim.inputDim, dim.stride);
    groups.m.push_back(Dim{dim.output, dim.inputDim, -1, dim.outputDim});
  }
  llvm::sort(groups.m, [](const Dim &a, const Dim &b) { return a.out < b.out; });
  groups.n.push_back(Dim{g.outputFeatures, -1, g.kernelOutputDim, g.outputFeatureDim});
  groups.k.push_back(Dim{g.inputFeatures, g.inputFeatureDim, g.kernelInputDim, -1});
  return makeContraction(kernel, op, operands.element, operands.input, operands.kernel, groups);
}

/// Whether there is one output position, with a window that does not leave the input: a whole image
/// of weights, or the gradient of a kernel of one tap.
static bool isOnePosition(const ConvGeometry &g) {
  return g.groups() == 1 && llvm::all_of(g.spatial, [](const SpatialDim &d) {
           return d.output == 1 && d.padLow == 0 && d.inputDilation == 1 && !d.reversed &&
                  d.isInside();
         });
}

/// A convolution of one output position, as a dot over taps and features: the window reads every
/// kernelDilation-th element.
static Contraction onePositionContraction(KernelBuilder &kernel, ConvolutionOp op,
                                          const ConvOperands &operands) {
  using Dim = DimensionGroups::Dim;
  const ConvGeometry &g = operands.g;
  DimensionGroups groups;
  groups.m.push_back(Dim{g.outputBatch, g.inputBatchDim, -1, g.outputBatchDim});
  groups.n.push_back(Dim{g.outputFeatures, -1, g.kernelOutputDim, g.outputFeatureDim});
  for (const SpatialDim &dim : g.spatial) {
    operands.input->setStep(dim.inputDim, dim.kernelDilation);
    groups.k.push_back(Dim{dim.kernel, dim.inputDim, dim.kernelDim, -1});
  }
  groups.k.push_back(Dim{g.inputFeatures, g.inputFeatureDim, g.kernelInputDim, -1});
  return makeContraction(kernel, op, operands.element, operands.input, operands.kernel, groups);
}

namespace {
/// State shared by the readers of a windowed convolution. m is the output batch and positions in
/// the order `mDims` (-1 = batch, else a spatial dimension), k the spatial dimensions and -1 =
/// input feature.
struct Windowed {
  ConvOperands operands;
  SmallVector<int64_t> mDims, kDims;
};
} // namespace

/// Splits the indices of a group into those of spatial dimensions and the other one.
static std::pair<Index, SmallVector<Index>> spread(ArrayRef<int64_t> dims,
                                                   ArrayRef<Index> indices) {
  SmallVector<Index> spatial(dims.size() - 1);
  Index other;
  for (auto [d, index] : llvm::zip(dims, indices)) {
    (d < 0 ? other : spatial[d]) = index;
  }
  return {other, spatial};
}

static Elem readInput(Emission &e, const Windowed &w, ArrayRef<Index> group, ArrayRef<Index> m,
                      ArrayRef<Index> k, int64_t lanes, Value mask) {
  const ConvGeometry &g = w.operands.g;
  auto [batch, output] = spread(w.mDims, m);
  auto [feature, tap] = spread(w.kDims, k);
  if (g.batchGroups > 1) {
    batch = addIndex(e, batch, mulIndex(e, group[0], g.outputBatch), lanes);
  }
  if (g.featureGroups > 1) {
    feature = addIndex(e, feature, mulIndex(e, group[0], g.kernelInputFeatures), lanes);
  }
  return w.operands.readInput(e, batch, feature, output, tap, lanes, mask);
}

static Elem readKernel(Emission &e, const Windowed &w, ArrayRef<Index> group, ArrayRef<Index> n,
                       ArrayRef<Index> k, int64_t lanes, Value mask) {
  const ConvGeometry &g = w.operands.g;
  auto [inputFeature, tap] = spread(w.kDims, k);
  Index feature = n[0];
  if (g.groups() > 1) {
    feature = addIndex(e, feature, mulIndex(e, group[0], g.groupFeatures()), lanes);
  }
  return w.operands.readKernel(e, inputFeature, feature, tap, lanes, mask);
}

/// The strides of the kernel along k's and n's dimensions, for direct access.
static void addKernelStrides(const Windowed &w, ContractionSide &side) {
  const ConvGeometry &g = w.operands.g;
  ArrayRef<int64_t> strides = w.operands.kernel->strides();
  int64_t feature = strides[g.kernelOutputDim];
  if (g.groups() > 1) {
    side.batchStrides.push_back(feature * g.groupFeatures());
  }
  side.freeStrides.push_back(feature);
  bool reversed = false;
  for (int64_t d : w.kDims) {
    side.kStrides.push_back(strides[d < 0 ? g.kernelInputDim : g.spatial[d].kernelDim]);
    reversed |= d >= 0 && g.spatial[d].reversed;
  }
  if (!reversed && w.operands.kernel->isStrided()) {
    side.strided = w.operands.kernel;
  }
  side.unit = feature == 1                ? UnitStride::Free
              : side.kStrides.back() == 1 ? UnitStride::K
                                          : UnitStride::None;
}

/// `featuresLast`: input features are the last dimension of k, wherever the input has them.
static Contraction windowedContraction(KernelBuilder &kernel, ConvolutionOp op,
                                       const ConvOperands &operands, bool featuresLast = false) {
  auto w = std::make_shared<Windowed>(Windowed{operands, {}, {}});
  const ConvGeometry &g = operands.g;
  auto resultType = cast<RankedTensorType>(op.getResult().getType());
  SmallVector<int64_t> outStrides = rowMajorStrides(resultType.getShape());
  Contraction c{kernel, op, operands.element};
  if (g.groups() > 1) {
    c.batch.push_back(g.groups());
    c.outBatch.push_back(outStrides[g.outputFeatureDim] * g.groupFeatures());
  }
  c.n.push_back(g.groupFeatures());
  c.outN.push_back(outStrides[g.outputFeatureDim]);
  // m in the order of the output's dimensions.
  SmallVector<int64_t> spatialOf(resultType.getRank(), -1);
  for (auto [d, dim] : llvm::enumerate(g.spatial)) {
    spatialOf[dim.outputDim] = d;
  }
  for (int64_t d = 0; d < resultType.getRank(); ++d) {
    if (d != g.outputFeatureDim) {
      w->mDims.push_back(spatialOf[d]);
      c.m.push_back(resultType.getDimSize(d));
      c.outM.push_back(outStrides[d]);
    }
  }
  // k in the order of the input's dimensions, so that its last steps least.
  SmallVector<int64_t> inputSpatial(resultType.getRank(), -1);
  for (auto [d, dim] : llvm::enumerate(g.spatial)) {
    inputSpatial[dim.inputDim] = d;
  }
  for (int64_t d = 0; d < resultType.getRank(); ++d) {
    if (d == g.inputBatchDim || (featuresLast && d == g.inputFeatureDim)) {
      continue;
    }
    w->kDims.push_back(inputSpatial[d]);
    c.k.push_back(d == g.inputFeatureDim ? g.kernelInputFeatures
                                         : g.spatial[inputSpatial[d]].kernel);
  }
  if (featuresLast) {
    w->kDims.push_back(-1);
    c.k.push_back(g.kernelInputFeatures);
  }
  Emission &e = kernel.e;
  c.lhs.read = [&e, w](ArrayRef<Index> group, ArrayRef<Index> m, ArrayRef<Index> k, int64_t lanes,
                       Value mask) { return readInput(e, *w, group, m, k, lanes, mask); };
  c.rhs.read = [&e, w](ArrayRef<Index> group, ArrayRef<Index> n, ArrayRef<Index> k, int64_t lanes,
                       Value mask) { return readKernel(e, *w, group, n, k, lanes, mask); };
  ArrayRef<int64_t> inputStrides = operands.input->strides();
  if (w->kDims.back() < 0 && inputStrides[g.inputFeatureDim] == 1) {
    c.lhs.unit = UnitStride::K;
  } else {
    int64_t last = w->mDims.back();
    bool unit = last < 0 ? inputStrides[g.inputBatchDim] == 1
                         : inputStrides[g.spatial[last].inputDim] == 1 &&
                               g.spatial[last].stride == 1 && g.spatial[last].inputDilation == 1;
    c.lhs.unit = unit ? UnitStride::Free : UnitStride::None;
  }
  addKernelStrides(*w, c.rhs);
  c.lhs.holdsBf16 = operands.input->holdsBf16();
  c.lhs.narrowInteger = operands.input->narrowInteger();
  c.rhs.narrowInteger = operands.kernel->narrowInteger();
  c.rhs.holdsBf16 = operands.kernel->holdsBf16();
  c.outIndex = [&e, w](ArrayRef<Index> group, ArrayRef<Index> m, ArrayRef<Index> n, int64_t lanes) {
    const ConvGeometry &g = w->operands.g;
    SmallVector<Index> full(g.spatial.size() + 2);
    full[g.outputFeatureDim] = n[0];
    if (g.groups() > 1) {
      full[g.outputFeatureDim] = addIndex(e, n[0], mulIndex(e, group[0], g.groupFeatures()), lanes);
    }
    for (auto [d, index] : llvm::zip(w->mDims, m)) {
      full[d < 0 ? g.outputBatchDim : g.spatial[d].outputDim] = index;
    }
    return full;
  };
  return c;
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

private:
  struct Direct {
    ConvOperands operands;
    DirectPlan plan;
  };
  ConvOperands operandsAs(Type type) {
    return {g, type, std::make_shared<Operand>(kernel, op.getLhs(), type),
            std::make_shared<Operand>(kernel, op.getRhs(), type)};
  }
  std::optional<Direct> planMatrix();
  std::optional<Direct> planGroups();
  std::optional<Direct> planSingle();
  std::optional<Contraction> patches();
  Contraction contraction();
  /// Whether the result holds only the sums.
  bool isPlain() const { return epilogue.isIdentity() && epilogue.heroElement() == element; }

  KernelBuilder &kernel;
  ConvolutionOp op;
  Epilogue &epilogue;
  const Machine &machine;
  ConvGeometry g;
  Type element;
  bool isPointwise, isOne;
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
    Contraction c = windowedContraction(kernel, op, operands, featuresLast);
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

Contraction Ways::contraction() {
  ConvOperands operands = operandsAs(element);
  Contraction c = isPointwise ? pointwiseContraction(kernel, op, operands)
                  : isOne     ? onePositionContraction(kernel, op, operands)
                              : windowedContraction(kernel, op, operands);
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
                       kCertain * describeDepthwise(operandsAs(element), machine).cycles;
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
  bool isSingle = isDepthwise(g), isDirect = isSingle && prefersDirect(), all = kernel.choice;
  if (isSingle && offer(
                      !isDirect, [&] { return describeDepthwise(operandsAs(element), machine); },
                      [&] { emitDepthwise(kernel, op, operandsAs(element), epilogue); })) {
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
                 emitDirect(kernel, op, direct->operands, epilogue, direct->plan, element);
               });
  };
  if (offerDirect("direct-matrix", isWindowed && !isDirect, &Ways::planMatrix) ||
      offerDirect("direct-groups", isWindowed && !isDirect, &Ways::planGroups) ||
      offerDirect("direct", isWindowed || isDirect, &Ways::planSingle)) {
    return;
  }
  Contraction c = contraction();
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
  emitters[chooseCandidate(kernel, std::move(candidates), *best)]();
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

} // namespace hlo::codegen

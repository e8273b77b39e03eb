//===- OpKinds.cpp - What passes know of an opcode ------------------------===//
//
// To add an op: a row here. test/unit/analysis asks for a row of each opcode.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/OpKinds.h"
#include "compiler/analysis/Shapes.h"
#include "dialect/hlo/ops/KernelOps.h"

using namespace mlir;
using namespace hlo;

template <typename Op> static TypeID of() { return TypeID::get<Op>(); }

static const llvm::DenseMap<TypeID, OpProperties> &table() {
  using enum OpFlag;
  // clang-format off
  static const llvm::DenseMap<TypeID, OpProperties> rows = {
    // op                            role         cost, flags, strategy, weight of its code
    // ElementwiseOps.td
    {of<AbsOp>(),                    {Role::Compute,   1, Elementwise | StaysWide}},
    {of<AcosOp>(),                   {Role::Compute,  20, Elementwise | Function | KeptInRow | Grouped}},
    {of<AcoshOp>(),                  {Role::Compute,  20, Elementwise | Function | KeptInRow | Grouped}},
    {of<AsinOp>(),                   {Role::Compute,  20, Elementwise | Function | KeptInRow | Grouped}},
    {of<AsinhOp>(),                  {Role::Compute,  20, Elementwise | Function | KeptInRow | Grouped}},
    {of<AtanhOp>(),                  {Role::Compute,  20, Elementwise | Function | KeptInRow | Grouped}},
    {of<CbrtOp>(),                   {Role::Compute,  20, Elementwise | Function | KeptInRow | Grouped | StaysWide}},
    {of<CeilOp>(),                   {Role::Compute,   1, Elementwise}},
    {of<CosineOp>(),                 {Role::Compute,  20, Elementwise | Function | KeptInRow | Grouped | StaysWide}},
    {of<CoshOp>(),                   {Role::Compute,  20, Elementwise | Function | KeptInRow | Grouped}},
    {of<CountLeadingZerosOp>(),      {Role::Compute,   1, Elementwise}},
    {of<ErfOp>(),                    {Role::Compute,  20, Elementwise | Function | KeptInRow | Grouped | StaysWide}},
    {of<ExponentialOp>(),            {Role::Compute,  20, Elementwise | Function | KeptInRow | Grouped | StaysWide}},
    {of<ExponentialMinusOneOp>(),    {Role::Compute,  20, Elementwise | Function | KeptInRow | Grouped | StaysWide}},
    {of<FloorOp>(),                  {Role::Compute,   1, Elementwise}},
    {of<ImagOp>(),                   {Role::Compute,   0, Elementwise}},
    {of<IsFiniteOp>(),               {Role::Compute,   1, Elementwise}},
    {of<LogOp>(),                    {Role::Compute,  20, Elementwise | Function | KeptInRow | Grouped | StaysWide}},
    {of<LogPlusOneOp>(),             {Role::Compute,  20, Elementwise | Function | KeptInRow | Grouped | StaysWide}},
    {of<LogisticOp>(),               {Role::Compute,  20, Elementwise | Function | KeptInRow | Grouped | StaysWide}},
    {of<NegateOp>(),                 {Role::Compute,   1, Elementwise | StaysWide}},
    {of<NotOp>(),                    {Role::Compute,   1, Elementwise}},
    {of<PopcntOp>(),                 {Role::Compute,   1, Elementwise}},
    {of<RealOp>(),                   {Role::Compute,   0, Elementwise}},
    {of<RoundNearestAfzOp>(),        {Role::Compute,   1, Elementwise}},
    {of<RoundNearestEvenOp>(),       {Role::Compute,   1, Elementwise}},
    {of<RsqrtOp>(),                  {Role::Compute,   4, Elementwise | KeptInRow | StaysWide}},
    {of<SignOp>(),                   {Role::Compute,   1, Elementwise}},
    {of<SineOp>(),                   {Role::Compute,  20, Elementwise | Function | KeptInRow | Grouped | StaysWide}},
    {of<SinhOp>(),                   {Role::Compute,  20, Elementwise | Function | KeptInRow | Grouped}},
    {of<SqrtOp>(),                   {Role::Compute,   4, Elementwise | KeptInRow | StaysWide}},
    {of<TanOp>(),                    {Role::Compute,  20, Elementwise | Function | KeptInRow | Grouped}},
    {of<TanhOp>(),                   {Role::Compute,  20, Elementwise | Function | KeptInRow | Grouped | StaysWide}},
    {of<AddOp>(),                    {Role::Compute,   1, Elementwise | StaysWide}},
    {of<AndOp>(),                    {Role::Compute,   1, Elementwise}},
    {of<Atan2Op>(),                  {Role::Compute,  20, Elementwise | Function | KeptInRow | Grouped}},
    {of<ComplexOp>(),                {Role::Compute,   1, Elementwise}},
    {of<DivideOp>(),                 {Role::Compute,   4, Elementwise | KeptInRow | StaysWide}},
    {of<MaximumOp>(),                {Role::Compute,   1, Elementwise | StaysWide}},
    {of<MinimumOp>(),                {Role::Compute,   1, Elementwise | StaysWide}},
    {of<MulhiOp>(),                  {Role::Compute,   1, Elementwise}},
    {of<MultiplyOp>(),               {Role::Compute,   1, Elementwise | StaysWide}},
    {of<OrOp>(),                     {Role::Compute,   1, Elementwise}},
    {of<PowerOp>(),                  {Role::Compute,  20, Elementwise | Function | KeptInRow | Grouped | StaysWide}},
    {of<RemainderOp>(),              {Role::Compute,   4, Elementwise | KeptInRow}},
    {of<ShiftLeftOp>(),              {Role::Compute,   1, Elementwise}},
    {of<ShiftRightArithmeticOp>(),   {Role::Compute,   1, Elementwise}},
    {of<ShiftRightLogicalOp>(),      {Role::Compute,   1, Elementwise}},
    {of<SubtractOp>(),               {Role::Compute,   1, Elementwise | StaysWide}},
    {of<XorOp>(),                    {Role::Compute,   1, Elementwise}},
    {of<StochasticConvertOp>(),      {Role::Compute,  20, Elementwise | KeptInRow}},
    {of<CompareOp>(),                {Role::Compute,   1, Elementwise}},
    {of<SelectOp>(),                 {Role::Compute,   1, Elementwise | HandsOn}},
    {of<ClampOp>(),                  {Role::Compute,   1, Elementwise | StaysWide}},
    {of<ConvertOp>(),                {Role::Compute,   0, Elementwise}},
    {of<BitcastConvertOp>(),         {Role::Compute,   0, Elementwise}},
    {of<ReducePrecisionOp>(),        {Role::Compute,   1, Elementwise}},
    // ShapeOps.td
    {of<BitcastOp>(),                {Role::Free,      0, HandsOn}},
    {of<BroadcastOp>(),              {Role::Free,      0, HandsOn}},
    {of<ConcatenateOp>(),            {Role::Compute,   4, HandsOn | Displaces}},
    {of<CopyOp>(),                   {Role::Free,      0, HandsOn}},
    {of<DynamicReshapeOp>(),         {Role::TopLevel,  1, Composite}},
    {of<DynamicSliceOp>(),           {Role::Compute,   4, HandsOn | Displaces}},
    {of<DynamicUpdateSliceOp>(),     {Role::Hero,      4, Displaces, Strategy::UpdateSlice}},
    {of<GatherOp>(),                 {Role::Compute,   4, HandsOn | Displaces}},
    {of<GetDimensionSizeOp>(),       {Role::TopLevel,  1, Composite}},
    {of<IotaOp>(),                   {Role::Free,      0, None}},
    {of<PadOp>(),                    {Role::Compute,   4, HandsOn | Displaces}},
    {of<ReshapeOp>(),                {Role::Free,      0, HandsOn}},
    {of<ReverseOp>(),                {Role::Free,      0, HandsOn | Displaces}},
    {of<SetDimensionSizeOp>(),       {Role::TopLevel,  1, Composite}},
    {of<SliceOp>(),                  {Role::Free,      0, HandsOn | Displaces}},
    {of<TransposeOp>(),              {Role::Free,      0, HandsOn}},
    {of<ConstantOp>(),               {Role::Free,      0, HandsOn}},
    {of<ScatterOp>(),                {Role::Hero,      1, None, Strategy::Scatter, 12}},
    // KernelOps.td
    {of<StackOp>(),                  {Role::Compute,   4, Displaces}},
    {of<ResizeOp>(),                 {Role::TopLevel,  0, None}},
    {of<PackOp>(),                   {Role::TopLevel,  1, Runtime}},
    {of<UnpackOp>(),                 {Role::TopLevel,  1, Runtime}},
    // ReduceOps.td
    {of<ReduceOp>(),                 {Role::Reduce,    1, None, Strategy::Reduce, 12}},
    {of<ReduceWindowOp>(),           {Role::Reduce,    1, None, Strategy::Scan, 12}},
    {of<SelectAndScatterOp>(),       {Role::Hero,      1, None, Strategy::SelectAndScatter}},
    {of<MapOp>(),                    {Role::Compute,  20, None}},
    {of<ScanOp>(),                   {Role::TopLevel,  1, None}},
    {of<SortOp>(),                   {Role::Hero,      1, None, Strategy::Sort, 60}},
    {of<TopkOp>(),                   {Role::Hero,      1, None, Strategy::Topk}},
    // LinalgOps.td
    {of<DotOp>(),                    {Role::Hero,      8, None, Strategy::Dot, 60}},
    {of<RaggedDotOp>(),              {Role::TopLevel,  1, Composite}},
    {of<ScaledDotOp>(),              {Role::TopLevel,  1, Composite}},
    {of<ConvolutionOp>(),            {Role::Hero,      1, None, Strategy::Conv, 60}},
    {of<FftOp>(),                    {Role::Hero,      1, None, Strategy::Fft, 60}},
    {of<CholeskyOp>(),               {Role::Hero,      1, None, Strategy::Cholesky}},
    {of<TriangularSolveOp>(),        {Role::Hero,      1, None, Strategy::TriangularSolve}},
    {of<BatchNormGradOp>(),          {Role::TopLevel,  1, Composite}},
    {of<BatchNormInferenceOp>(),     {Role::TopLevel,  1, Composite}},
    {of<BatchNormTrainingOp>(),      {Role::TopLevel,  1, Composite}},
    // ControlOps.td
    {of<ComputationOp>(),            {Role::TopLevel,  1, None}},
    {of<ReturnOp>(),                 {Role::TopLevel,  1, None}},
    {of<CallOp>(),                   {Role::TopLevel,  1, Composite}},
    {of<WhileOp>(),                  {Role::TopLevel,  1, None}},
    {of<ConditionalOp>(),            {Role::TopLevel,  1, None}},
    {of<FusionOp>(),                 {Role::TopLevel,  1, None}},
    {of<TupleOp>(),                  {Role::TopLevel,  1, Composite}},
    {of<GetTupleElementOp>(),        {Role::TopLevel,  1, Composite}},
    {of<OptBarrierOp>(),             {Role::TopLevel,  1, Composite}},
    {of<DomainOp>(),                 {Role::TopLevel,  1, Composite}},
    {of<AfterAllOp>(),               {Role::TopLevel,  1, Composite}},
    {of<AddDependencyOp>(),          {Role::TopLevel,  1, Composite}},
    {of<AsyncStartOp>(),             {Role::TopLevel,  1, Composite}},
    {of<AsyncUpdateOp>(),            {Role::TopLevel,  1, Composite}},
    {of<AsyncDoneOp>(),              {Role::TopLevel,  1, Composite}},
    {of<CopyStartOp>(),              {Role::TopLevel,  1, Composite}},
    {of<CopyDoneOp>(),               {Role::TopLevel,  1, Composite}},
    {of<CustomCallOp>(),             {Role::TopLevel,  1, Runtime}},
    // CommunicationOps.td
    {of<AllReduceOp>(),              {Role::TopLevel,  1, Runtime | Collective | Effect}},
    {of<AllReduceStartOp>(),         {Role::TopLevel,  1, Effect | Composite}},
    {of<AllReduceDoneOp>(),          {Role::TopLevel,  1, Effect | Composite}},
    {of<AllGatherOp>(),              {Role::TopLevel,  1, Runtime | Collective | Effect}},
    {of<AllGatherStartOp>(),         {Role::TopLevel,  1, Effect | Composite}},
    {of<AllGatherDoneOp>(),          {Role::TopLevel,  1, Effect | Composite}},
    {of<ReduceScatterOp>(),          {Role::TopLevel,  1, Runtime | Collective | Effect}},
    {of<AllToAllOp>(),               {Role::TopLevel,  1, Runtime | Collective | Effect}},
    {of<RaggedAllToAllOp>(),         {Role::TopLevel,  1, Runtime | Collective | Effect}},
    {of<CollectiveBroadcastOp>(),    {Role::TopLevel,  1, Runtime | Collective | Effect}},
    {of<CollectivePermuteOp>(),      {Role::TopLevel,  1, Runtime | Collective | Effect}},
    {of<CollectivePermuteStartOp>(), {Role::TopLevel,  1, Effect | Composite}},
    {of<CollectivePermuteDoneOp>(),  {Role::TopLevel,  1, Effect | Composite}},
    {of<CollectiveDoneOp>(),         {Role::TopLevel,  1, Runtime | Collective | Effect}},
    {of<PartitionIdOp>(),            {Role::TopLevel,  1, Runtime | Collective}},
    {of<ReplicaIdOp>(),              {Role::TopLevel,  1, Runtime | Collective}},
    {of<InfeedOp>(),                 {Role::TopLevel,  1, Runtime | Effect}},
    {of<OutfeedOp>(),                {Role::TopLevel,  1, Runtime | Effect}},
    {of<SendOp>(),                   {Role::TopLevel,  1, Runtime | Effect}},
    {of<SendDoneOp>(),               {Role::TopLevel,  1, Runtime | Effect}},
    {of<RecvOp>(),                   {Role::TopLevel,  1, Runtime | Effect}},
    {of<RecvDoneOp>(),               {Role::TopLevel,  1, Runtime | Effect}},
    {of<RngOp>(),                    {Role::TopLevel,  1, Composite}},
    {of<RngBitGeneratorOp>(),        {Role::Hero,      1, None, Strategy::Rng}},
    {of<RngGetAndUpdateStateOp>(),   {Role::TopLevel,  1, Effect}},
  };
  // clang-format on
  return rows;
}

const OpProperties &hlo::propertiesOf(OperationName name) {
  static const OpProperties none;
  auto row = table().find(name.getTypeID());
  return row == table().end() ? none : row->second;
}

bool hlo::isElementwiseOp(Operation *op) {
  return hasFlag(op, OpFlag::Elementwise) &&
         (!isa<BitcastConvertOp>(op) || shapeOf(op->getOperand(0)) == shapeOf(op->getResult(0)));
}

bool hlo::isExpensiveElementwise(Operation *op) { return hasFlag(op, OpFlag::Function); }

bool hlo::isRuntimeOp(Operation *op) { return hasFlag(op, OpFlag::Runtime); }

bool hlo::isCollectiveOp(Operation *op) { return hasFlag(op, OpFlag::Collective); }

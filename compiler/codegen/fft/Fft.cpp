//===- Fft.cpp - Strategy "fft": transforms of known lengths --------------===//
//
// In: a region whose root is an fft over the last one to three dimensions. Out, for each task (some
// transforms of the batch), dimension after dimension:
//
//   the last one   lines, from the operand to the result     (Lines.cpp, FourSteps.cpp)
//   the others     blocks of columns, in place in the result (Columns.cpp)
//
// IRFFT goes the other way round: the columns of its operand into scratch, then lines.
// Lengths are known, so radices, forms and roots of unity are chosen at compile time
// (plans/FftPlan). A few large transforms are done in stages with barriers between them:
// each dimension is one, of several tasks, and the two halves of four steps are.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/fft/Lines.h"
#include "compiler/codegen/loops/EmitterImpl.h"
#include "compiler/codegen/loops/Lanes.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>

using namespace mlir;

namespace hlo::codegen {

namespace {
struct FftEmission {
  KernelBuilder &kernel;
  Emission &e;
  FftOp op;
  FftShape shape;
  int64_t lanes;
  Type part, complexType;
  ColumnTransforms columns;
  /// Bytes of the scratch memory without the work array.
  int64_t bufferBytes;
  std::map<int64_t, std::unique_ptr<ElementEmitter>> emitters{};

  Elem operandElements(Value line, Value index, int64_t stride, int64_t count, Value mask);
  Elem readOperand(Value line, Value index, int64_t count, Value mask);
  void writeResult(Value line, Value index, const Elem &value, Value mask);
  /// Blocks of columns of dimension d; each row of `count` of them has `inner` columns.
  struct ColumnBlocks {
    int64_t n, inner, width, vectors;
    int64_t count() const { return countColumnBlocks(inner, width, vectors); }
  };
  ColumnBlocks blocksOf(size_t d) const;
  /// Number of blocks of one transform.
  int64_t columnBlocks(size_t d) const {
    ColumnBlocks blocks = blocksOf(d);
    return shape.workElements() / (blocks.n * blocks.inner) * blocks.count();
  }
  using ReadWork = function_ref<Elem(Value at, int64_t count, Value mask)>;
  using WriteWork = function_ref<void(Value at, const Elem &value, Value mask)>;
  /// Transforms blocks lo <= block < hi of dimension d; `read` and `write` take positions in the
  /// array of all transforms.
  void transformColumns(size_t d, Value lo, Value hi, ReadWork read, WriteWork write,
                        Value scratch);
  void columnsOfResult(size_t d, Value lo, Value hi, Value scratch);
  /// The same in IRFFT's work array, reading the operand if d is the first dimension. The work
  /// array begins at element `elementsBefore` of all transforms.
  void columnsOfWork(size_t d, Value lo, Value hi, Value work, Value elementsBefore, Value scratch);
  void copyToWork(Value lo, Value hi, Value work);
  Value resultLine(Value line);
  /// Transforms lines of the operand, or of the work array if there is one, which begins with line
  /// `linesBefore`.
  void transformLines(LineTransforms &lines, Value lo, Value hi, Value work, Value linesBefore);
  void transformTask(Value lo, Value hi, const FftLine &plan, Value scratch);
  void transformInStages(const FftLine &plan, function_ref<Value(Value task)> scratchOf);
};
} // namespace

/// Elements `index`, `index` + `stride`, ... of a line of the operand.
Elem FftEmission::operandElements(Value line, Value index, int64_t stride, int64_t count,
                                  Value mask) {
  auto type = arrayType(op.getOperand());
  std::unique_ptr<ElementEmitter> &emitter = emitters[count];
  if (!emitter) {
    emitter = std::make_unique<ElementEmitter>(kernel, count);
  }
  ElementEmitter::Scope scope(*emitter);
  SmallVector<Index> indices;
  for (Value i : delinearize(e, line, type.getShape().drop_back())) {
    indices.push_back(Index(i));
  }
  indices.push_back(Index(index, count > 1 ? stride : 0));
  return emitter->emit(op.getOperand(), indices, mask);
}

/// Complex elements of a line; pairs of real elements if the line is halved.
Elem FftEmission::readOperand(Value line, Value index, int64_t count, Value mask) {
  if (auto argument = dyn_cast<BlockArgument>(op.getOperand());
      argument && (!shape.realIn || shape.halved)) {
    int64_t length = shape.realOut ? shape.work.back() : shape.lineLength;
    return loadElements(e, complexType, kernel.operandPtrs[argument.getArgNumber()],
                        addI(e, mulI(e, line, length), index), count, mask);
  }
  if (!shape.realIn) {
    return operandElements(line, index, 1, count, mask);
  }
  if (!shape.halved) {
    return Elem(operandElements(line, index, 1, count, mask).re, zeroElem(e, part, count).re);
  }
  Value twice = mulI(e, index, 2);
  return Elem(operandElements(line, twice, 2, count, mask).re,
              operandElements(line, addI(e, twice, 1), 2, count, mask).re);
}

void FftEmission::writeResult(Value line, Value index, const Elem &value, Value mask) {
  Value result = kernel.resultPtrs[0];
  if (shape.realOut && !shape.halved) {
    storeElements(e, part, Elem(value.re), result, addI(e, mulI(e, line, shape.lineLength), index),
                  mask);
    return;
  }
  int64_t length = shape.realIn ? shape.work.back() : shape.lineLength;
  storeElements(e, complexType, value, result, addI(e, mulI(e, line, length), index), mask);
}

FftEmission::ColumnBlocks FftEmission::blocksOf(size_t d) const {
  ColumnBlocks blocks{shape.work[d], 1, lanes, 1};
  for (size_t i = d + 1; i < shape.work.size(); ++i) {
    blocks.inner *= shape.work[i];
  }
  while (blocks.width > 1 && blocks.width >= 2 * blocks.inner) {
    blocks.width /= 2;
  }
  blocks.vectors = fftBlockVectors(e.machine, blocks.n, blocks.inner / blocks.width,
                                   blocks.width * shape.partBytes);
  return blocks;
}

void FftEmission::transformColumns(size_t d, Value lo, Value hi, ReadWork read, WriteWork write,
                                   Value scratch) {
  ColumnBlocks blocks = blocksOf(d);
  int64_t n = blocks.n, inner = blocks.inner, width = blocks.width;
  Value other = addBytes(e, scratch, constI64(e, llvm::alignDown(bufferBytes / 2, 64)));
  emitFor(e, lo, hi, 1, [&](Value number) {
    Value outer = divI(e, number, blocks.count()), inRow = remI(e, number, blocks.count());
    emitColumnBlock(e, inner, width, blocks.vectors, inRow, [&](const ColumnBlock &block) {
      auto at = [&](Value row, Value vector) {
        Value line = addI(e, mulI(e, outer, n), row);
        return addI(e, mulI(e, line, inner), addI(e, block.first, mulI(e, vector, width)));
      };
      auto readRow = [&](Value row, Value vector) {
        return read(at(row, vector), width, block.mask);
      };
      auto writeRow = [&](Value row, Value vector, const Elem &value) {
        bool scaled = shape.inverse && n > 1;
        write(at(row, vector),
              scaled ? columns.math.scale(value, 1.0 / static_cast<double>(n)) : value, block.mask);
      };
      columns.transform(n, width, block.vectors, readRow, writeRow, scratch, other);
    });
  });
}

Value FftEmission::resultLine(Value line) {
  int64_t length = shape.realIn ? shape.work.back() : shape.lineLength;
  return addBytes(e, kernel.resultPtrs[0], mulI(e, line, length * 2 * shape.partBytes));
}

void FftEmission::columnsOfResult(size_t d, Value lo, Value hi, Value scratch) {
  Value base = kernel.resultPtrs[0];
  transformColumns(
      d, lo, hi,
      [&](Value at, int64_t count, Value mask) {
        return loadElements(e, complexType, base, at, count, mask);
      },
      [&](Value at, const Elem &v, Value mask) {
        storeElements(e, complexType, v, base, at, mask);
      },
      scratch);
}

void FftEmission::columnsOfWork(size_t d, Value lo, Value hi, Value work, Value elementsBefore,
                                Value scratch) {
  auto argument = dyn_cast<BlockArgument>(op.getOperand());
  transformColumns(
      d, lo, hi,
      [&](Value at, int64_t count, Value mask) {
        bool first = d == 0 && argument;
        Value from = first ? kernel.operandPtrs[argument.getArgNumber()] : work;
        return loadElements(e, complexType, from, first ? addI(e, elementsBefore, at) : at, count,
                            mask);
      },
      [&](Value at, const Elem &v, Value mask) {
        storeElements(e, complexType, v, work, at, mask);
      },
      scratch);
}

void FftEmission::copyToWork(Value lo, Value hi, Value work) {
  emitFor(e, lo, hi, 1, [&](Value line) {
    emitFor(e, constI64(e, 0), constI64(e, shape.work.back()), 1, [&](Value i) {
      Elem v = readOperand(line, i, 1, {});
      storeElements(e, complexType, v, work,
                    addI(e, mulI(e, subI(e, line, lo), shape.work.back()), i));
    });
  });
}

void FftEmission::transformLines(LineTransforms &lines, Value lo, Value hi, Value work,
                                 Value linesBefore) {
  auto toResult = [&](Value line, Value index, const Elem &v, Value mask) {
    writeResult(line, index, v, mask);
  };
  auto result = [&](Value line) { return resultLine(line); };
  auto from = [&](Value line, Value index, int64_t count, Value mask) {
    if (!work) {
      return readOperand(line, index, count, mask);
    }
    Value at = mulI(e, subI(e, line, linesBefore), shape.work.back());
    return loadElements(e, complexType, work, addI(e, at, index), count, mask);
  };
  lines.transform(lo, hi, from, toResult, result);
}

void FftEmission::transformTask(Value lo, Value hi, const FftLine &plan, Value scratch) {
  int64_t linesPerBatch = shape.linesPerBatch();
  size_t last = shape.work.size() - 1;
  LineTransforms lines(columns, shape, plan, scratch, bufferBytes);
  if (!shape.hasWork()) {
    transformLines(lines, mulI(e, lo, linesPerBatch), mulI(e, hi, linesPerBatch), {}, {});
    for (size_t d = last; d-- > 0;) {
      int64_t count = columnBlocks(d);
      emitFor(e, lo, hi, 1, [&](Value batch) {
        columnsOfResult(d, mulI(e, batch, count), mulI(e, addI(e, batch, 1), count), scratch);
      });
    }
    return;
  }
  Value work = addBytes(e, scratch, constI64(e, bufferBytes));
  emitFor(e, lo, hi, 1, [&](Value batch) {
    Value firstLine = mulI(e, batch, linesPerBatch), end = addI(e, firstLine, linesPerBatch);
    if (!isa<BlockArgument>(op.getOperand())) {
      copyToWork(firstLine, end, work);
    }
    for (size_t d = 0; d < last; ++d) {
      columnsOfWork(d, constI64(e, 0), constI64(e, columnBlocks(d)), work,
                    mulI(e, batch, shape.workElements()), scratch);
    }
    transformLines(lines, firstLine, end, work, firstLine);
  });
}

void FftEmission::transformInStages(const FftLine &plan,
                                    function_ref<Value(Value task)> scratchOf) {
  size_t last = shape.work.size() - 1;
  int64_t tasks = kernel.tasks, allLines = shape.batches * shape.linesPerBatch();
  // A stage: its number of units of work, and how to run units lo <= unit < hi; groups of `step`
  // units stay in one task.
  struct Stage {
    int64_t units, step;
    std::function<void(Value lo, Value hi, Value scratch)> run;
  };
  SmallVector<Stage> stages;
  Value work = shape.hasWork() ? kernel.resultPtrs[1] : Value();
  Value zero = constI64(e, 0);
  auto addLines = [&] {
    if (last == 0 && LineTransforms::inStages(plan)) {
      for (int64_t step = 0; step < LineTransforms::stages(shape); ++step) {
        int64_t units = allLines * LineTransforms::unitsOf(e.machine, plan, shape, step);
        stages.push_back({units, 1, [&, step](Value lo, Value hi, Value scratch) {
                            LineTransforms lines(columns, shape, plan, scratch, bufferBytes);
                            lines.transformStage(
                                step, lo, hi,
                                [&](Value line, Value index, int64_t count, Value mask) {
                                  return readOperand(line, index, count, mask);
                                },
                                [&](Value line, Value index, const Elem &v, Value mask) {
                                  writeResult(line, index, v, mask);
                                },
                                [&](Value line) { return resultLine(line); });
                          }});
      }
      return;
    }
    stages.push_back(
        {allLines, plan.fourSteps ? 1 : plan.lanes, [&](Value lo, Value hi, Value scratch) {
           LineTransforms lines(columns, shape, plan, scratch, bufferBytes);
           transformLines(lines, lo, hi, work, zero);
         }});
  };
  if (!work) {
    addLines();
    for (size_t d = last; d-- > 0;) {
      stages.push_back(
          {shape.batches * columnBlocks(d), 1,
           [&, d](Value lo, Value hi, Value scratch) { columnsOfResult(d, lo, hi, scratch); }});
    }
  } else {
    if (!isa<BlockArgument>(op.getOperand())) {
      stages.push_back({allLines, 1, [&](Value lo, Value hi, Value) {
                          Value from = addBytes(
                              e, work, mulI(e, lo, shape.work.back() * 2 * shape.partBytes));
                          copyToWork(lo, hi, from);
                        }});
    }
    for (size_t d = 0; d < last; ++d) {
      stages.push_back(
          {shape.batches * columnBlocks(d), 1, [&, d](Value lo, Value hi, Value scratch) {
             columnsOfWork(d, lo, hi, work, zero, scratch);
           }});
    }
    addLines();
  }
  SmallVector<int64_t> counts, sizes;
  for (const Stage &stage : stages) {
    sizes.push_back(llvm::alignTo(llvm::divideCeil(stage.units, tasks), stage.step));
    counts.push_back(llvm::divideCeil(stage.units, sizes.back()));
  }
  emitStages(kernel, counts, [&](size_t s, Value first, Value end) {
    emitFor(e, first, end, 1, [&](Value task) {
      Value lo = mulI(e, task, sizes[s]);
      Value hi = minI(e, addI(e, lo, sizes[s]), stages[s].units);
      stages[s].run(lo, hi, scratchOf(task));
    });
  });
}

/// The candidate for the lines: the first, which is the cheapest one, or the one that is asked for.
static size_t chooseLine(KernelBuilder &kernel, const FftShape &shape,
                         ArrayRef<FftCandidate> candidates) {
  if (!kernel.choice) {
    return 0;
  }
  std::vector<PlanCandidate> descriptions;
  for (const FftCandidate &candidate : candidates) {
    const FftLine &line = candidate.line;
    std::string sizes =
        line.fourSteps ? llvm::formatv("{0} x {1}", line.rows, line.columns).str()
                       : llvm::formatv("{0} lines of {1}", line.lanes, line.transformed()).str();
    descriptions.push_back({(line.fourSteps ? "steps-" : "lines-") + std::to_string(line.lanes),
                            std::move(sizes), fftCycles(kernel.e.machine, shape, candidate)});
  }
  return chooseCandidate(kernel, std::move(descriptions), 0);
}

LogicalResult emitFftKernel(KernelBuilder &kernel) {
  Emission &e = kernel.e;
  auto op = dyn_cast_or_null<FftOp>(kernel.root());
  if (!op) {
    return kernel.fusion.emitOpError("of strategy 'fft' must return an fft");
  }
  if (arrayType(op.getResult()).getNumElements() == 0) {
    kernel.tasks = 0;
    return success();
  }
  FftShape shape = fftShape(e.machine, op);
  Type part = e.b.getF32Type();
  if (shape.partBytes == 8) {
    part = e.b.getF64Type();
  }
  int64_t lanes = std::max<int64_t>(1, e.machine.lanes(shape.partBytes));
  SmallVector<FftCandidate> candidates = fftLineCandidates(e.machine, shape);
  if (int64_t needed = fftScratchBytes(e.machine, shape, candidates.front().line);
      kernel.resultPtrs.size() != (needed > 0 ? 2u : 1u)) {
    return kernel.fusion.emitOpError("needs ") << needed << " bytes of scratch";
  }
  size_t chosen = chooseLine(kernel, shape, candidates);
  FftLine plan = candidates[chosen].line;
  int64_t bytes = fftTaskScratchBytes(e.machine, shape, plan), bufferBytes = bytes;
  kernel.tasks = shape.tasks(bytes);
  if (shape.hasWork() && !shape.staged()) {
    bufferBytes -= shape.workBytes();
  }
  FftEmission fft{kernel,
                  e,
                  op,
                  shape,
                  lanes,
                  part,
                  ComplexType::get(part),
                  ColumnTransforms(e, part, shape.inverse),
                  bufferBytes};
  Value stack;
  // The kernel's scratch memory is that of the cheapest candidate; others use the stack.
  if (bytes <= kFftStackBytes || chosen != 0) {
    stack = stackBuffer(e, bytes);
  }
  auto scratchOf = [&](Value task) -> Value {
    return stack ? stack
                 : addBytes(e, kernel.resultPtrs[1],
                            addI(e, mulI(e, task, bytes), fftWorkBytes(shape)));
  };
  if (shape.staged()) {
    fft.transformInStages(plan, scratchOf);
    return success();
  }
  emitFor(e, kernel.first, kernel.last, 1, [&](Value task) {
    Value lo = mulI(e, task, shape.batchesPerTask);
    Value hi = minI(e, addI(e, lo, shape.batchesPerTask), shape.batches);
    fft.transformTask(lo, hi, plan, scratchOf(task));
  });
  return success();
}

} // namespace hlo::codegen

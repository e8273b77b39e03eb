//===- Fft.cpp - Strategy "fft": transforms of known lengths --------------===//
//
// In: a region whose root is an fft over the last one to three dimensions. Out, for each
// task (some transforms of the batch), dimension after dimension:
//
//   the last one   lines, from the operand to the result     (Lines.cpp, FourSteps.cpp)
//   the others     blocks of columns, in the result's place  (Columns.cpp)
//
// IRFFT goes the other way round: the columns of its operand into scratch, then lines.
// Lengths are known, so radices, forms and roots of unity are chosen at compile time
// (analysis/FftPlan).
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/fft/Lines.h"
#include "compiler/codegen/loops/EmitterImpl.h"
#include "compiler/codegen/loops/Lanes.h"

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
  /// Of the scratch memory, what is not the work array.
  int64_t bufferBytes;
  std::map<int64_t, std::unique_ptr<ElementEmitter>> emitters{};

  Elem operandElements(Value line, Value index, int64_t stride, int64_t count, Value mask);
  Elem readOperand(Value line, Value index, int64_t count, Value mask);
  void writeResult(Value line, Value index, const Elem &value, Value mask);
  /// Transforms dimension d of the work array of one batch; `read` and `write` take positions in it.
  void transformColumns(size_t d, function_ref<Elem(Value at, int64_t count, Value mask)> read,
                        function_ref<void(Value at, const Elem &value, Value mask)> write, Value scratch);
  void transformTask(Value lo, Value hi, const FftLine &plan, Value scratch);
};
} // namespace

/// Elements `index`, `index` + `stride`, ... of a line of the operand.
Elem FftEmission::operandElements(Value line, Value index, int64_t stride, int64_t count, Value mask) {
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

/// Complex elements of a line: pairs of real ones if the line is halved.
Elem FftEmission::readOperand(Value line, Value index, int64_t count, Value mask) {
  if (auto argument = dyn_cast<BlockArgument>(op.getOperand()); argument && (!shape.realIn || shape.halved)) {
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
    storeElements(e, part, Elem(value.re), result, addI(e, mulI(e, line, shape.lineLength), index), mask);
    return;
  }
  int64_t length = shape.realIn ? shape.work.back() : shape.lineLength;
  storeElements(e, complexType, value, result, addI(e, mulI(e, line, length), index), mask);
}

void FftEmission::transformColumns(size_t d, function_ref<Elem(Value, int64_t, Value)> read,
                                   function_ref<void(Value, const Elem &, Value)> write, Value scratch) {
  int64_t n = shape.work[d], inner = 1, width = lanes;
  for (size_t i = d + 1; i < shape.work.size(); ++i) {
    inner *= shape.work[i];
  }
  while (width > 1 && width >= 2 * inner) {
    width /= 2;
  }
  int64_t vectors = fftBlockVectors(n, inner / width, width * shape.partBytes);
  Value other = addBytes(e, scratch, constI64(e, llvm::alignDown(bufferBytes / 2, 64)));
  Value zero = constI64(e, 0);
  emitFor(e, zero, constI64(e, shape.workElements() / (n * inner)), 1, [&](Value outer) {
    auto block = [&](Value first, int64_t wide, int64_t count) {
      Value mask;
      if (count < width) {
        mask = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::slt, laneOffsets(e, width, 1),
                                     constLanes(e, count, width));
      }
      auto at = [&](Value row, Value vector) {
        Value line = addI(e, mulI(e, outer, n), row);
        return addI(e, mulI(e, line, inner), addI(e, first, mulI(e, vector, width)));
      };
      auto readRow = [&](Value row, Value vector) { return read(at(row, vector), width, mask); };
      auto writeRow = [&](Value row, Value vector, const Elem &value) {
        bool scaled = shape.inverse && n > 1;
        write(at(row, vector), scaled ? columns.math.scale(value, 1.0 / static_cast<double>(n)) : value, mask);
      };
      columns.transform(n, width, wide, readRow, writeRow, scratch, other);
    };
    int64_t whole = inner / width * width;
    emitFor(e, zero, constI64(e, whole), vectors * width, [&](Value first) { block(first, vectors, width); });
    if (inner > whole) {
      block(constI64(e, whole), 1, inner - whole);
    }
  });
}

void FftEmission::transformTask(Value lo, Value hi, const FftLine &plan, Value scratch) {
  int64_t linesPerBatch = shape.linesPerBatch(), elements = shape.workElements();
  size_t last = shape.work.size() - 1;
  LineTransforms lines(columns, shape, plan, scratch, bufferBytes);
  auto toResult = [&](Value line, Value index, const Elem &v, Value mask) { writeResult(line, index, v, mask); };
  auto resultLine = [&](Value line) {
    int64_t length = shape.realIn ? shape.work.back() : shape.lineLength;
    return addBytes(e, kernel.resultPtrs[0], mulI(e, line, length * 2 * shape.partBytes));
  };
  if (!shape.realOut || last == 0) {
    auto fromOperand = [&](Value line, Value index, int64_t count, Value mask) {
      return readOperand(line, index, count, mask);
    };
    lines.transform(mulI(e, lo, linesPerBatch), mulI(e, hi, linesPerBatch), fromOperand, toResult, resultLine);
    for (size_t d = last; d-- > 0;) {
      emitFor(e, lo, hi, 1, [&](Value batch) {
        Value base = addBytes(e, kernel.resultPtrs[0], mulI(e, batch, elements * 2 * shape.partBytes));
        transformColumns(
            d, [&](Value at, int64_t count, Value mask) { return loadElements(e, complexType, base, at, count, mask); },
            [&](Value at, const Elem &v, Value mask) { storeElements(e, complexType, v, base, at, mask); }, scratch);
      });
    }
    return;
  }
  Value work = addBytes(e, scratch, constI64(e, bufferBytes));
  auto argument = dyn_cast<BlockArgument>(op.getOperand());
  emitFor(e, lo, hi, 1, [&](Value batch) {
    Value firstLine = mulI(e, batch, linesPerBatch);
    if (!argument) {
      emitFor(e, constI64(e, 0), constI64(e, linesPerBatch), 1, [&](Value line) {
        emitFor(e, constI64(e, 0), constI64(e, shape.work.back()), 1, [&](Value i) {
          Elem v = readOperand(addI(e, firstLine, line), i, 1, {});
          storeElements(e, complexType, v, work, addI(e, mulI(e, line, shape.work.back()), i));
        });
      });
    }
    for (size_t d = 0; d < last; ++d) {
      transformColumns(
          d,
          [&](Value at, int64_t count, Value mask) {
            bool first = d == 0 && argument;
            Value from = first ? kernel.operandPtrs[argument.getArgNumber()] : work;
            Value start = first ? addI(e, mulI(e, batch, elements), at) : at;
            return loadElements(e, complexType, from, start, count, mask);
          },
          [&](Value at, const Elem &v, Value mask) { storeElements(e, complexType, v, work, at, mask); }, scratch);
    }
    auto fromWork = [&](Value line, Value index, int64_t count, Value mask) {
      Value at = mulI(e, subI(e, line, firstLine), shape.work.back());
      return loadElements(e, complexType, work, addI(e, at, index), count, mask);
    };
    lines.transform(firstLine, addI(e, firstLine, linesPerBatch), fromWork, toResult, resultLine);
  });
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
  FftShape shape = fftShape(op);
  Type part = e.b.getF32Type();
  if (shape.partBytes == 8) {
    part = e.b.getF64Type();
  }
  kernel.tasks = shape.tasks();
  int64_t lanes = std::max<int64_t>(1, e.target.lanes(shape.partBytes));
  FftLine plan = planFftLine(shape.lineLength, shape.batchesPerTask * shape.linesPerBatch(), lanes,
                             shape.acrossLines());
  int64_t bytes = fftTaskScratchBytes(shape), bufferBytes = bytes;
  if (shape.realOut && shape.work.size() > 1) {
    bufferBytes -= shape.workBytes();
  }
  FftEmission fft{kernel, e, op, shape, lanes, part, ComplexType::get(part),
                  ColumnTransforms(e, part, shape.inverse), bufferBytes};
  bool onStack = kernel.resultPtrs.size() == 1;
  Value stack;
  if (onStack) {
    stack = LLVM::AllocaOp::create(e.b, e.loc, LLVM::LLVMPointerType::get(e.b.getContext()), e.b.getI8Type(),
                                   constI64(e, bytes), 64);
  }
  emitFor(e, kernel.first, kernel.last, 1, [&](Value task) {
    Value scratch = onStack ? stack : addBytes(e, kernel.resultPtrs[1], mulI(e, task, bytes));
    Value lo = mulI(e, task, shape.batchesPerTask);
    Value hi = e.b.createOrFold<arith::MinSIOp>(e.loc, addI(e, lo, shape.batchesPerTask),
                                                constI64(e, shape.batches));
    fft.transformTask(lo, hi, plan, scratch);
  });
  return success();
}

} // namespace hlo::codegen

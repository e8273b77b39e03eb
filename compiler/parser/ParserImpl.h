//===- ParserImpl.h - The parser's state and productions ------------------===//
//
// One class whose member functions are spread over Module.cpp (header, tables, computations),
// Instructions.cpp, Attributes.cpp, TextAttributes.cpp, Sharding.cpp, Shapes.cpp and Literals.cpp.
// A production that fails has reported an error; the current token is then at or after the
// offending one, and the loop over the body finds the next instruction.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_PARSER_PARSERIMPL_H
#define COMPILER_PARSER_PARSERIMPL_H

#include "compiler/parser/Lexer.h"
#include "compiler/parser/Opcodes.h"
#include "compiler/parser/Parser.h"
#include "compiler/parser/Reporter.h"
#include "dialect/hlo/Dialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

#include <set>

namespace hlo {
class ComputationBuilder;
}

namespace hlo::parser {

/// Levels of nested shapes, literals, operands and inline computations. Each takes at most some
/// kilobytes of stack; real programs nest a few dozen levels.
inline constexpr int64_t maxDepth = 500;

/// The value of a name inside a computation. A null value marks an instruction with an error: users
/// of it report nothing more.
struct Binding {
  mlir::Value value;
  const char *position;
};

/// A parameter instruction.
struct Parameter {
  int64_t number;
  mlir::BlockArgument argument;
  const char *position;
  mlir::DictionaryAttr attributes;
};

/// An instruction in place of an operand; it gets its name at the end.
struct Anonymous {
  mlir::Value value;
  const OpcodeInfo *info;
  const char *position;
};

/// A computation while its body is parsed.
struct Scope {
  /// Owns `block` until the computation does.
  std::unique_ptr<mlir::Block> storage;
  mlir::Block *block = nullptr;
  llvm::DenseMap<llvm::StringRef, Binding> names;
  llvm::SmallVector<Parameter> parameters;
  /// Not a DenseSet, which reserves two keys.
  std::set<int64_t> parameterNumbers;
  /// Nested instructions, in order.
  llvm::SmallVector<Anonymous> anonymous;
  mlir::Value root;
  mlir::Location rootLocation;
  mlir::Value last;
  mlir::Location lastLocation;
  bool hasRoot = false;
  bool broken = false;
  /// For single-instruction input: unknown operands with a shape become parameters.
  bool implicitParameters = false;

  explicit Scope(mlir::Location unknown) : rootLocation(unknown), lastLocation(unknown) {}
};

/// The size of a type with its tuples expanded. Types share their elements, so it may be far larger
/// than the text.
struct TypeExtent {
  uint64_t leaves = 1; ///< arrays, tokens, empty tuples; saturates
  uint64_t levels = 0; ///< of tuples
  uint64_t steps = 0;  ///< numbers in the tuple indices of all leaves; saturates
};

/// One instruction while it is parsed.
struct Instruction {
  const OpcodeInfo *info = nullptr;
  AsyncPart async = AsyncPart::None;
  /// First characters of the opcode and of the instruction's name.
  const char *opcodePosition = nullptr;
  const char *namePosition = nullptr;
  llvm::StringRef name;
  /// The opcode as written, `X-start` included.
  llvm::StringRef opcode;
  /// Null until known.
  mlir::Type type;
  const char *shapePosition = nullptr;
  llvm::SmallVector<mlir::Value, 4> operands;
  llvm::SmallVector<const char *, 4> operandPositions;
  /// Attributes of the opcode, and common ones.
  mlir::NamedAttrList attributes;
  mlir::NamedAttrList common;
  /// Names of the attributes seen, for duplicates and required ones.
  llvm::SmallVector<llvm::StringRef, 8> seen;
  /// Branches of a conditional in the text's form.
  mlir::Attribute trueBranch, falseBranch;

  bool hasSeen(llvm::StringRef attribute) const { return llvm::is_contained(seen, attribute); }
};

/// A computation that has been parsed.
struct KnownComputation {
  ComputationOp op;
  const char *position;
};

class Parser {
public:
  Parser(llvm::StringRef text, llvm::StringRef fileName, mlir::MLIRContext *context,
         const ParseOptions &options);

  mlir::OwningOpRef<mlir::ModuleOp> parse();
  /// The whole text as the value of a common attribute.
  mlir::FailureOr<mlir::StringAttr> parseCommonAttributeText(llvm::StringRef name);

private:
  friend class hlo::ComputationBuilder;
  using Result = llvm::LogicalResult;

  // Tokens.
  const Token &token() const { return lexer.token(); }
  const char *position() const { return lexer.token().begin; }
  bool at(Tok kind) const { return lexer.token().is(kind); }
  bool atWord(llvm::StringRef word) const;
  bool consumeIf(Tok kind);
  bool consumeIfKeyword(llvm::StringRef word);
  bool consumeIfAttrName(llvm::StringRef name);
  Result expect(Tok kind, llvm::StringRef what, llvm::StringRef context);
  /// An error at the current token: `expected WHAT CONTEXT, got ...`.
  mlir::InFlightDiagnostic unexpected(llvm::StringRef what, llvm::StringRef context = "");
  mlir::InFlightDiagnostic error(const char *at) { return reporter.error(at); }
  Result parseInteger(int64_t &value, llvm::StringRef context);
  Result parseBoolean(bool &value, llvm::StringRef context);
  Result parseNumber(double &value, llvm::StringRef context);
  Result parseString(std::string &value, llvm::StringRef context);
  Result parseName(llvm::StringRef &name, llvm::StringRef what);
  /// `OPEN int,* CLOSE`.
  Result parseIntegers(llvm::SmallVectorImpl<int64_t> &values, Tok open, Tok close,
                       llvm::StringRef context);
  /// Counts nesting; failure past the limit.
  Result enter(const char *at);

  // Module.cpp.
  Result parseModuleText(mlir::ModuleOp module);
  Result parseHeader(mlir::ModuleOp module);
  Result parseHeaderAttribute(mlir::ModuleOp module, llvm::StringRef name, const char *at);
  Result parseEntryLayout(mlir::Attribute &layout);
  Result parseInputOutputAlias(mlir::Attribute &alias);
  Result parseBufferDonor(mlir::Attribute &donors);
  Result parseBooleans(std::string &text);
  Result parseRecoveryTable(std::string &text);
  Result parseDebugAttributes(std::string &text);
  Result parseStackTables(mlir::ModuleOp module);
  Result parseStackEntry(std::string &text, llvm::ArrayRef<llvm::StringRef> fields);
  Result parseComputation();
  Result parseSignature(mlir::Type &result);
  Result parseBody(Scope &scope, llvm::StringRef what);
  Result parseSingleInstruction(mlir::ModuleOp module);
  /// Builds the computation of a parsed body and enters it under `name`.
  ComputationOp finishComputation(Scope &scope, llvm::StringRef name, const char *at,
                                  mlir::Type written, const char *writtenAt, bool visible);
  Result orderParameters(Scope &scope, llvm::StringRef name);
  void nameAnonymous(Scope &scope);
  Result finishEntry(mlir::ModuleOp module);
  Result checkAliases(mlir::ModuleOp module);
  void skipToInstruction(const char *from);
  void skipToComputation();
  bool looksLikeComputation() const;
  /// For messages: the line that begins the computation `name`, or, from the current position to
  /// the end of the computation, the instruction `name`; null if there is none.
  const char *findComputation(llvm::StringRef name) const;
  const char *findInstructionBelow(llvm::StringRef name) const;
  std::string makeComputationName(llvm::StringRef stem);

  // Instructions.cpp.
  Result parseInstruction(Scope &scope);
  Result checkInstructionName(const Token &name);
  Result parseRightHandSide(Scope &scope, Instruction &inst);
  Result parseOpcode(Instruction &inst);
  Result findOpcode(llvm::StringRef word, Instruction &inst);
  Result parseOperands(Scope &scope, Instruction &inst);
  Result parseOperand(Scope &scope, Instruction &inst);
  Result parseNested(Scope &scope, mlir::Type type, const char *shapeAt, mlir::Value &value);
  Result addOperand(Scope &scope, Instruction &inst, llvm::StringRef name, const char *at,
                    mlir::Type type, const char *shapeAt);
  Result checkOperandCount(Instruction &inst);
  Result parseParameterNumber(int64_t &number);
  Result parseAttributes(Scope &scope, Instruction &inst);
  Result checkAttributes(Instruction &inst);
  Result completeShape(Instruction &inst);
  Result inferShape(Instruction &inst);
  Result checkShape(Instruction &inst);
  Result checkExtent(const Instruction &inst);
  TypeExtent extentOf(mlir::Type type);
  Result checkAsync(Instruction &inst);
  /// For each async-update that another one continues: the start of its chain (or the op, if any,
  /// in its place).
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> asyncStarts;
  mlir::Value create(Scope &scope, Instruction &inst, mlir::Location location);
  mlir::Operation *createOp(mlir::Block *block, mlir::OperationName name, mlir::Location location,
                            mlir::Type type, mlir::ValueRange operands,
                            mlir::NamedAttrList &attributes);
  void wrapAsync(Instruction &inst, mlir::Location location);

  // Attributes.cpp.
  Result parseAttribute(Scope &scope, Instruction &inst);
  Result parseAttributeValue(const AttrSpec &spec, Instruction &inst);
  Result parseCommonAttribute(Scope &scope, Instruction &inst, llvm::StringRef name,
                              const char *at);
  void suggestAttributes(mlir::InFlightDiagnostic &diagnostic, const Instruction &inst,
                         llvm::StringRef wrong);
  llvm::ArrayRef<AttrSpec> attributesOf(const Instruction &inst) const;
  Result parseWord(const AttrSpec &spec, std::string &word);
  Result parseComputationRef(mlir::FlatSymbolRefAttr &ref, llvm::StringRef attribute);
  Result parseComputationRefs(mlir::Attribute &refs, llvm::StringRef attribute);
  Result parseInlineComputation(mlir::FlatSymbolRefAttr &ref, llvm::StringRef attribute);
  Result parseControlPredecessors(Scope &scope, mlir::Attribute &value);
  Result parseSlice(mlir::NamedAttrList &attributes);
  Result parsePadding(mlir::NamedAttrList &attributes);
  Result parsePrecision(mlir::Attribute &value);
  Result parseWindow(WindowAttr &window);
  Result parseDimLabels(ConvDimsAttr &labels);
  Result parseShapes(mlir::Attribute &value);

  /// Reports an error at `at` if replica groups or a mesh have more devices than the budget.
  Result checkDevices(const char *at, uint64_t devices);

  // TextAttributes.cpp: each appends its normalized text.
  Result parseReplicaGroups(std::string &text);
  Result parseIntegerLists(std::string &text, bool pairs);
  Result parseAliasing(std::string &text);
  Result parseShapeIndex(llvm::SmallVectorImpl<int64_t> &index);
  Result parseDomain(std::string &text);
  Result parseSparsity(std::string &text);
  Result parseAccuracy(std::string &text);
  Result parseFrontendAttributes(std::string &text);
  Result parseDictOrString(std::string &text, llvm::StringRef context);
  Result parseMetadata(std::string &text);
  Result parseOrigin(std::string &text);
  Result parseOriginTree(std::string &text);
  Result parseOriginLeaf(std::string &text);
  Result parseStatistics(std::string &text);
  Result parseBooleanList(std::string &text);

  // Sharding.cpp: the same.
  Result parseSharding(std::string &text);
  Result parseShardingBody(std::string &text);
  Result parseTiles(std::string &text, int64_t subgroups);
  Result parseMeshSharding(std::string &text);
  Result parseMesh(std::string &text);
  /// A part of an axis of a mesh: (before)size.
  struct AxisPart {
    unsigned axis;
    int64_t before, size;
  };
  Result useAxis(const char *start, AxisPart part);
  Result parseAxis(std::string &text);
  Result parseAxes(std::string &text, Tok open, Tok close, bool allowOpen);
  Result parseIota(std::string &text, int64_t &count);
  Result parseShardingMetadata(std::string &text);

  // Shapes.cpp.
  bool atShape() const;
  Result parseShape(mlir::Type &type);
  Result parseArrayShape(mlir::Type &type);
  Result parseLayout(llvm::SmallVectorImpl<int64_t> &order, std::string &properties, bool &written);
  Result parseLayoutProperties(std::string &properties);
  Result parsePrimitive(mlir::Type &element, llvm::StringRef &word);

  // Literals.cpp.
  Result parseLiteral(mlir::Type type, mlir::Attribute &value);
  Result parseDense(mlir::RankedTensorType type, mlir::Attribute &value);
  Result parseTypedLiteral(std::string &text);

  Lexer lexer;
  Reporter reporter;
  mlir::MLIRContext *context;
  mlir::Builder builder;
  OpcodeTable opcodes;
  mlir::Block *moduleBlock = nullptr;
  llvm::DenseMap<llvm::StringRef, KnownComputation> computations;
  /// Computations that an async-start calls.
  llvm::DenseSet<llvm::StringRef> wrapped;
  /// Parsed shapes by their spelling.
  llvm::DenseMap<llvm::StringRef, mlir::Type> shapeCache;
  ComputationOp entry;
  const char *entryPosition = nullptr;
  ComputationOp lastComputation;
  const char *aliasPosition = nullptr;
  /// Names for computations that have none in the text.
  struct GeneratedStem {
    std::string prefix;
    int64_t count = 0;
  };
  llvm::StringMap<GeneratedStem> generatedStems;
  /// These names, and that of the builder's entry.
  llvm::StringSet<> generatedNames;
  /// Axes of the mesh that was read last, and their sizes.
  llvm::SmallVector<std::string> meshAxes;
  llvm::SmallVector<int64_t> meshSizes;
  /// Parts of axes that the sharding or the groups over this mesh have named so far.
  llvm::SmallVector<AxisPart> usedAxes;
  int64_t depth = 0;
  /// Shapes are inferred wherever they follow from operands and attributes, also where the text
  /// format wants them written.
  bool infersAll = false;
  Budget budget;
  llvm::DenseMap<mlir::Type, TypeExtent> extents;
  /// Bytes of literals that were padded with zeros.
  uint64_t paddedBytes = 0;
};

/// Decrements the nesting counter when it goes out of scope.
class DepthGuard {
public:
  explicit DepthGuard(int64_t &depth) : depth(depth) {}
  ~DepthGuard() { --depth; }
  DepthGuard(const DepthGuard &) = delete;
  DepthGuard &operator=(const DepthGuard &) = delete;

private:
  int64_t &depth;
};

/// Removes quotes and escapes of a string token; false at a bad escape.
bool unescape(llvm::StringRef spelling, std::string &value);
/// The string in double quotes, escaped as the format prints it.
std::string quote(llvm::StringRef value);
/// The same in single quotes, the form of mesh axes.
std::string quoteName(llvm::StringRef value);
/// True if structure, element types and dimensions agree; layouts are ignored, and an unbounded
/// dimension matches any size.
bool areCompatible(mlir::Type a, mlir::Type b);
/// The type of a literal: the same array without an encoding.
mlir::RankedTensorType dropEncoding(mlir::RankedTensorType type);
/// `{1,0}` and the like.
std::string joinIntegers(llvm::ArrayRef<int64_t> values, llvm::StringRef open,
                         llvm::StringRef close);

} // namespace hlo::parser

#endif

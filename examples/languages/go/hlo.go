// A wrapper of libhlo_rt.so: compiled modules that are called with arrays.
//
// C code may not keep pointers to Go's memory inside of structs, so arrays lie in C's memory: Go
// programs use it as a slice, and calls copy nothing. One Model serves one call at a time; several
// may run at once.
package main

/*
#cgo LDFLAGS: -lhlo_rt
#include <hlo/rt.h>
#include <stdlib.h>
*/
import "C"

import (
	"errors"
	"unsafe"
)

// Error is a failed call: its status (HLO_ERR_* of <hlo/rt.h>), the status's name, and a text.
type Error struct {
	Status  int
	Name    string
	Message string
}

func (e *Error) Error() string { return e.Name + ": " + e.Message }

func failure(status C.hlo_status, message string) error {
	if status == C.HLO_OK {
		return nil
	}
	return &Error{int(status), C.GoString(C.hlo_status_name(status)), message}
}

// Array is memory for an array; Data is valid until Free.
type Array[T float32 | float64 | int32 | int64 | uint8] struct {
	Data []T
}

// NewArray makes an array of n zeros.
func NewArray[T float32 | float64 | int32 | int64 | uint8](n int) (*Array[T], error) {
	var zero T
	data := C.aligned_alloc(64, (C.size_t(n)*C.size_t(unsafe.Sizeof(zero))+63)&^63)
	if data == nil {
		return nil, errors.New("no memory for an array")
	}
	a := &Array[T]{unsafe.Slice((*T)(data), n)}
	for i := range a.Data {
		a.Data[i] = 0
	}
	return a, nil
}

// Free gives the memory back; the array must not be used afterwards.
func (a *Array[T]) Free() {
	if cap(a.Data) > 0 {
		C.free(unsafe.Pointer(&a.Data[:1][0]))
	}
	a.Data = nil
}

func (a *Array[T]) view() C.hlo_view {
	var view C.hlo_view
	view.struct_size = C.uint32_t(unsafe.Sizeof(view))
	switch any(a).(type) {
	case *Array[float32]:
		view._type = C.HLO_F32
	case *Array[float64]:
		view._type = C.HLO_F64
	case *Array[int32]:
		view._type = C.HLO_S32
	case *Array[int64]:
		view._type = C.HLO_S64
	case *Array[uint8]:
		view._type = C.HLO_U8
	}
	if len(a.Data) > 0 {
		view.data = unsafe.Pointer(&a.Data[0])
	}
	view.bytes = C.uint64_t(uintptr(len(a.Data)) * unsafe.Sizeof(*new(T)))
	return view
}

// Buffer is an Array of any type.
type Buffer interface{ view() C.hlo_view }

const messageBytes = 256

// Model is a module with its scratch memory.
type Model struct {
	module *C.hlo_module_desc
	call   *C.hlo_call
}

// NewModel takes what PREFIX_describe returns.
func NewModel(module *C.hlo_module_desc) (*Model, error) {
	if module.abi != C.HLO_ABI {
		return nil, failure(C.HLO_ERR_STRUCT, "another ABI")
	}
	call := (*C.hlo_call)(C.malloc(C.sizeof_hlo_call))
	C.hlo_call_clear(call, C.sizeof_hlo_call)
	m := &Model{module, call}
	call.message = (*C.char)(C.malloc(messageBytes))
	*call.message = 0
	call.message_bytes = messageBytes
	if bytes := C.hlo_arena_bytes(module, 1); bytes > 0 {
		call.arena = C.aligned_alloc(C.size_t(module.arena_align), C.size_t(bytes))
		call.arena_bytes = C.size_t(bytes)
		if call.arena == nil {
			m.Close()
			return nil, failure(C.HLO_ERR_ALLOC, "no memory for the arena")
		}
	}
	return m, nil
}

// Close frees the scratch memory; the model must not be used afterwards.
func (m *Model) Close() {
	C.free(m.call.arena)
	C.free(unsafe.Pointer(m.call.message))
	C.free(unsafe.Pointer(m.call))
}

// Run runs the module on its inputs and outputs, in order. An output that the module may write over
// an input can be the same array.
func (m *Model) Run(inputs, outputs []Buffer) error {
	views := func(buffers []Buffer) *C.hlo_view {
		first := (*C.hlo_view)(C.malloc(C.size_t(len(buffers)+1) * C.sizeof_hlo_view))
		for i, all := 0, unsafe.Slice(first, len(buffers)); i < len(all); i++ {
			all[i] = buffers[i].view()
		}
		return first
	}
	in, out := views(inputs), views(outputs)
	defer C.free(unsafe.Pointer(in))
	defer C.free(unsafe.Pointer(out))
	status := C.hlo_run_checked(m.module, m.call, in, C.uint32_t(len(inputs)), out, C.uint32_t(len(outputs)))
	return failure(status, C.GoString(m.call.message))
}

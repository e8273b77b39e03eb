! A module over libhlo_rt.so: compiled HLO that is called with Fortran's arrays.
!
! Errors are reported as by Fortran's own statements: with stat= and errmsg= the program goes on,
! without stat= it stops. One hlo_model serves one call at a time; several may run at once. The types
! are the beginnings of the structs of the same names in <hlo/rt.h>, which only grow at their ends.
!
! Fortran stores the first dimension consecutively: x(2, 8) has the memory of HLO's f32[8,2].
module hlo
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  private
  public :: hlo_model, hlo_open, hlo_run, hlo_close, hlo_array, hlo_view, hlo_call

  integer(c_int32_t), parameter :: s32 = 7, s64 = 8, f32 = 18, f64 = 19
  integer(c_int32_t), parameter :: abi = 2, err_struct = 515, err_alloc = 1800
  integer, parameter :: message_bytes = 256

  type, bind(c) :: hlo_view
    integer(c_int32_t) :: struct_size = 48, kind = 0
    type(c_ptr) :: data = c_null_ptr
    integer(c_int64_t) :: bytes = 0
    type(c_ptr) :: dims = c_null_ptr, minor_to_major = c_null_ptr
    integer(c_int32_t) :: rank = 0, reserved = 0
  end type

  type, bind(c) :: hlo_call
    integer(c_int32_t) :: struct_size, abi
    type(c_ptr) :: arena
    integer(c_size_t) :: arena_bytes
    type(c_ptr) :: alloc, exec, custom_calls, infeed, outfeed, comm, state, cancel
    integer(c_int64_t) :: deadline_ns
    type(c_ptr) :: profile
    integer(c_int32_t) :: profile_count, profile_stride
    integer(c_int64_t) :: rng_seed, run_id
    type(c_ptr) :: message
    integer(c_size_t) :: message_bytes
  end type

  ! A compiled module and its scratch memory.
  type :: hlo_model
    private
    type(c_ptr) :: module = c_null_ptr
    integer(c_int8_t), pointer :: arena(:) => null()
  end type

  ! hlo_array(a): an argument of hlo_run. `a`, of any rank or none, must be a target and contiguous.
  interface hlo_array
    module procedure array_f32, array_f64, array_s32, array_s64
  end interface

  interface
    integer(c_int64_t) function hlo_arena_bytes(module, threads) bind(c)
      import :: c_ptr, c_int32_t, c_int64_t
      type(c_ptr), value :: module
      integer(c_int32_t), value :: threads
    end function
    subroutine hlo_call_clear(call, struct_size) bind(c)
      import :: hlo_call, c_int32_t
      type(hlo_call), intent(out) :: call
      integer(c_int32_t), value :: struct_size
    end subroutine
    type(c_ptr) function hlo_status_name(status) bind(c)
      import :: c_ptr, c_int32_t
      integer(c_int32_t), value :: status
    end function
    integer(c_int32_t) function hlo_run_checked(module, call, inputs, num_inputs, outputs, num_outputs) bind(c)
      import :: c_ptr, c_int32_t, hlo_call, hlo_view
      type(c_ptr), value :: module
      type(hlo_call), intent(in) :: call
      type(hlo_view), intent(in) :: inputs(*), outputs(*)
      integer(c_int32_t), value :: num_inputs, num_outputs
    end function
    integer(c_size_t) function strlen(text) bind(c)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
    end function
  end interface

contains

  ! `module`: what PREFIX_describe returns.
  subroutine hlo_open(model, module, stat, errmsg)
    type(hlo_model), intent(out) :: model
    type(c_ptr), intent(in) :: module
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t), pointer :: head(:)
    integer :: failed
    call c_f_pointer(module, head, [2])
    if (head(2) /= abi) then
      call report(err_struct, 'another ABI', stat, errmsg)
      return
    end if
    model%module = module
    allocate (model%arena(hlo_arena_bytes(module, 1_c_int32_t) + 64), stat=failed)
    call report(merge(err_alloc, 0_c_int32_t, failed /= 0), 'no memory for the arena', stat, errmsg)
  end subroutine

  subroutine hlo_close(model)
    type(hlo_model), intent(inout) :: model
    if (associated(model%arena)) deallocate (model%arena)
  end subroutine

  ! Runs the module on its inputs and outputs, in order. An output that the module may write over an
  ! input can be the same array.
  subroutine hlo_run(model, inputs, outputs, stat, errmsg)
    type(hlo_model), intent(inout) :: model
    type(hlo_view), intent(in) :: inputs(:), outputs(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(hlo_call) :: call
    character(kind=c_char, len=message_bytes), target :: message
    integer(c_intptr_t) :: address
    integer(c_int32_t) :: status
    call hlo_call_clear(call, int(c_sizeof(call), c_int32_t))
    address = transfer(c_loc(model%arena), address)
    call%arena = c_loc(model%arena(1 + modulo(-address, 64_c_intptr_t)))
    call%arena_bytes = size(model%arena) - 64
    message = c_null_char
    call%message = c_loc(message)
    call%message_bytes = message_bytes
    status = hlo_run_checked(model%module, call, inputs, size(inputs, kind=c_int32_t), &
                             outputs, size(outputs, kind=c_int32_t))
    call report(status, message(:index(message, c_null_char) - 1), stat, errmsg)
  end subroutine

  subroutine report(status, message, stat, errmsg)
    integer(c_int32_t), intent(in) :: status
    character(*), intent(in) :: message
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(kind=c_char), pointer :: letters(:)
    character(:), allocatable :: name
    type(c_ptr) :: text
    integer :: i
    if (present(stat)) stat = status
    if (status == 0) return
    text = hlo_status_name(status)
    call c_f_pointer(text, letters, [strlen(text)])
    allocate (character(size(letters)) :: name)
    do i = 1, size(letters)
      name(i:i) = letters(i)
    end do
    if (present(errmsg)) errmsg = name // ': ' // message
    if (.not. present(stat)) then
      write (error_unit, '(a)') name // ': ' // message
      error stop
    end if
  end subroutine

  type(hlo_view) function array_f32(a) result(view)
    real(c_float), intent(in), target, contiguous :: a(..)
    view%data = c_loc(a)
    view%bytes = 4 * size(a, kind=c_int64_t)
    view%kind = f32
  end function

  type(hlo_view) function array_f64(a) result(view)
    real(c_double), intent(in), target, contiguous :: a(..)
    view%data = c_loc(a)
    view%bytes = 8 * size(a, kind=c_int64_t)
    view%kind = f64
  end function

  type(hlo_view) function array_s32(a) result(view)
    integer(c_int32_t), intent(in), target, contiguous :: a(..)
    view%data = c_loc(a)
    view%bytes = 4 * size(a, kind=c_int64_t)
    view%kind = s32
  end function

  type(hlo_view) function array_s64(a) result(view)
    integer(c_int64_t), intent(in), target, contiguous :: a(..)
    view%data = c_loc(a)
    view%bytes = 8 * size(a, kind=c_int64_t)
    view%kind = s64
  end function

end module

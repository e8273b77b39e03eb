! Prints the offsets and sizes of the wrapper's types: lines "STRUCT FIELD OFFSET BYTES".
program layout
  use, intrinsic :: iso_c_binding
  use hlo
  implicit none
  type(hlo_call), target :: c
  type(hlo_view), target :: v

  call show('hlo_call struct_size', c_loc(c), c_loc(c%struct_size), c_sizeof(c%struct_size))
  call show('hlo_call abi', c_loc(c), c_loc(c%abi), c_sizeof(c%abi))
  call show('hlo_call arena', c_loc(c), c_loc(c%arena), c_sizeof(c%arena))
  call show('hlo_call arena_bytes', c_loc(c), c_loc(c%arena_bytes), c_sizeof(c%arena_bytes))
  call show('hlo_call exec', c_loc(c), c_loc(c%exec), c_sizeof(c%exec))
  call show('hlo_call cancel', c_loc(c), c_loc(c%cancel), c_sizeof(c%cancel))
  call show('hlo_call deadline_ns', c_loc(c), c_loc(c%deadline_ns), c_sizeof(c%deadline_ns))
  call show('hlo_call profile_stride', c_loc(c), c_loc(c%profile_stride), c_sizeof(c%profile_stride))
  call show('hlo_call rng_seed', c_loc(c), c_loc(c%rng_seed), c_sizeof(c%rng_seed))
  call show('hlo_call run_id', c_loc(c), c_loc(c%run_id), c_sizeof(c%run_id))
  call show('hlo_call message', c_loc(c), c_loc(c%message), c_sizeof(c%message))
  call show('hlo_call message_bytes', c_loc(c), c_loc(c%message_bytes), c_sizeof(c%message_bytes))
  call show('hlo_view struct_size', c_loc(v), c_loc(v%struct_size), c_sizeof(v%struct_size))
  call show('hlo_view type', c_loc(v), c_loc(v%kind), c_sizeof(v%kind))
  call show('hlo_view data', c_loc(v), c_loc(v%data), c_sizeof(v%data))
  call show('hlo_view bytes', c_loc(v), c_loc(v%bytes), c_sizeof(v%bytes))
  call show('hlo_view dims', c_loc(v), c_loc(v%dims), c_sizeof(v%dims))
  call show('hlo_view rank', c_loc(v), c_loc(v%rank), c_sizeof(v%rank))
  call show('hlo_view reserved', c_loc(v), c_loc(v%reserved), c_sizeof(v%reserved))
  write (*, '(a, i0)') 'sizeof hlo_view ', c_sizeof(v)
  if (v%struct_size /= c_sizeof(v)) error stop 'the size that a view states is not its own'

contains

  subroutine show(name, base, field, bytes)
    character(*), intent(in) :: name
    type(c_ptr), intent(in) :: base, field
    integer(c_size_t), intent(in) :: bytes
    integer(c_intptr_t) :: zero
    write (*, '(a, 1x, i0, 1x, i0)') name, transfer(field, zero) - transfer(base, zero), bytes
  end subroutine

end program

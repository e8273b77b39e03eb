! Trains a linear regression by gradient descent: the compiled regression.hlo is one step of it.
program main
  use, intrinsic :: iso_c_binding
  use hlo
  implicit none

  interface
    type(c_ptr) function regression_describe() bind(c)
      import :: c_ptr
    end function
  end interface

  real(c_float), target :: x(2, 8), y(8), w(2), loss
  type(hlo_model) :: step
  character(200) :: message
  integer :: i, status

  ! 8 points of y = 3 a - 2 b, and the weights of a and b, which every step updates in place.
  do i = 1, 8
    x(:, i) = [real(modulo(i - 1, 3), c_float), real(modulo(i - 1, 2), c_float)]
  end do
  y = 3*x(1, :) - 2*x(2, :)
  w = 0

  call hlo_open(step, regression_describe())
  do i = 1, 100
    call hlo_run(step, [hlo_array(x), hlo_array(y), hlo_array(w)], [hlo_array(w), hlo_array(loss)])
    if (modulo(i, 50) == 0) then
      write (*, '(a, i0, a, f8.6, a, f6.4, f8.4)') 'step ', i, ': loss ', loss, ', w = ', w
    end if
  end do
  call hlo_run(step, [hlo_array(x), hlo_array(y(2:)), hlo_array(w)], [hlo_array(w), hlo_array(loss)], &
               stat=status, errmsg=message)
  if (status /= 0) write (*, '(a)') 'error: ' // trim(message)
  call hlo_close(step)
end program

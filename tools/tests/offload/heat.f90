! Steps of the heat equation in two dimensions.
program heat
  implicit none
  integer, parameter :: n = 64, steps = 20
  double precision :: a(n, n), b(n, n), c(n, n), d(n, n)
  integer :: i, j, k
  a = 0; a(n / 2, n / 2) = 1000; b = a; c = a; d = a
  !$acc data copy(a) create(b)
  !$acc parallel loop collapse(2)
  do j = 1, n
    do i = 1, n
      b(i, j) = a(i, j)
    end do
  end do
  do k = 1, steps
    !$acc parallel loop collapse(2)
    do j = 2, n - 1
      do i = 2, n - 1
        b(i, j) = 0.25d0 * (a(i - 1, j) + a(i + 1, j) + a(i, j - 1) + a(i, j + 1))
      end do
    end do
    !$acc parallel loop collapse(2)
    do j = 2, n - 1
      do i = 2, n - 1
        a(i, j) = b(i, j)
      end do
    end do
  end do
  !$acc end data
  do k = 1, steps
    do j = 2, n - 1
      do i = 2, n - 1
        d(i, j) = 0.25d0 * (c(i - 1, j) + c(i + 1, j) + c(i, j - 1) + c(i, j + 1))
      end do
    end do
    c(2:n - 1, 2:n - 1) = d(2:n - 1, 2:n - 1)
  end do
  if (any(a /= c)) stop 1
  print '(a)', 'right'
end program

"""What shows the data of an array: source for the programs of these tests."""

VIEWS = """
import ctypes
class Other:
    def __init__(self, array):
        self.array = array
    @property
    def __array_interface__(self):
        return self.array.__array_interface__
views = {
    "itself": lambda M: M,
    "slice": lambda M: M[..., 1:, 1],
    "transposed": lambda M: M.T,
    "another shape": lambda M: M.reshape(-1),
    "another type": lambda M: M.view(np.int64),
    "diagonal": lambda M: np.einsum("...ii->...i", M),
    "memoryview": lambda M: memoryview(M)[1:],
    "buffer": lambda M: np.frombuffer(M, dtype=np.uint8),
    "iterator": lambda M: M.flat,
    "matrix": lambda M: np.asmatrix(M.reshape(-1, 2)),
    "strided": lambda M: np.lib.stride_tricks.sliding_window_view(M, 2, axis=0),
    "interface": lambda M: np.asarray(Other(M)),
    "ctypes": lambda M: M.ctypes.data_as(ctypes.POINTER(ctypes.c_double * M.size)),
    "dlpack": lambda M: np.from_dlpack(M),
    "view of a view": lambda M: M[1:][..., :1],
    "memory map": lambda M: M.view(np.memmap),
    "attribute": lambda M: M.real,
}
def values(view):
    return np.array(view.contents if hasattr(view, "contents") else view).copy()
"""

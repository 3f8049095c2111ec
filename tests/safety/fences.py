"""Arrays with a fence exactly at their ends: whoever reads or writes beyond is ended.

`Pages` lays an array against a page of memory that nobody may touch; the processor itself finds who
does.  `Blocks` lays it into a block of the C library of exactly its size; AddressSanitizer, which
stands in for that library, finds who leaves it."""

import ctypes
import mmap
import weakref

import numpy as np

ENTRY = 8
"""Bytes of a float64."""

LIBRARY = ctypes.CDLL(None, use_errno=True)


class Pages:
    """Pages that nobody may touch before and behind; `room` may begin at one or end at one."""

    def room(self, entries, *, at_end, shift=0):
        """Return memory that ends at a fence, or begins `shift` bytes behind one."""
        size = entries * ENTRY + shift
        body = max(1, -(-size // mmap.PAGESIZE)) * mmap.PAGESIZE
        memory = mmap.mmap(-1, body + 2 * mmap.PAGESIZE)
        start = np.frombuffer(memory, np.uint8).ctypes.data
        for page in (start, start + mmap.PAGESIZE + body):
            if LIBRARY.mprotect(ctypes.c_void_p(page), mmap.PAGESIZE, 0):
                raise OSError(ctypes.get_errno(), "mprotect")
        offset = mmap.PAGESIZE + (body - size if at_end else shift)
        return np.ndarray((entries,), np.float64, memory, offset)


class Blocks:
    """Blocks of malloc; they begin at a fence and end at one, but for the shift."""

    def room(self, entries, *, at_end, shift=0):
        size = entries * ENTRY + shift
        LIBRARY.malloc.restype = ctypes.c_void_p
        address = LIBRARY.malloc(ctypes.c_size_t(size))
        block = (ctypes.c_uint8 * size).from_address(address)
        weakref.finalize(block, LIBRARY.free, ctypes.c_void_p(address))
        return np.ndarray((entries,), np.float64, block, 0 if at_end else shift)


Fence = Pages | Blocks
FENCES = {"pages": Pages, "blocks": Blocks}

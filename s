copying       22.3 GB/s read and written by 2 thread2

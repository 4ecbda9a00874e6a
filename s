copying       43.1 GB/s read and written by 2 thread2

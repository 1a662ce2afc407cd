NONE = "PyTorch has one call for this, torch.fft.fft or its inverse, and forward() is that call"

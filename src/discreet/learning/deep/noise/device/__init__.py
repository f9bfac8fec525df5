"""Exact noise made where the gradients are: a secure keystream and integer tables on any device of torch."""

from discreet.learning.deep.noise.device.device_noise import DeviceNoise

"""One page that shows what the device's code is made of."""

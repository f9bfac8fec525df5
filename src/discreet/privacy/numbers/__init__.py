"""Numbers of prices: arguments checked, decimals as written, rounding towards safety."""

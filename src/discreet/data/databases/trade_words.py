"""What everybody knows about the trading company: its nations, its words, its ranges, its calendar."""

from __future__ import annotations

import numpy as np

REGIONS = ("AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST")
NATIONS = {  # in the order of their keys, each with the key of its region
    "ALGERIA": 0, "ARGENTINA": 1, "BRAZIL": 1, "CANADA": 1, "EGYPT": 4, "ETHIOPIA": 0, "FRANCE": 3, "GERMANY": 3,
    "INDIA": 2, "INDONESIA": 2, "IRAN": 4, "IRAQ": 4, "JAPAN": 2, "JORDAN": 4, "KENYA": 0, "MOROCCO": 0,
    "MOZAMBIQUE": 0, "PERU": 1, "CHINA": 2, "ROMANIA": 3, "SAUDI ARABIA": 4, "VIETNAM": 2, "RUSSIA": 3,
    "UNITED KINGDOM": 3, "UNITED STATES": 1,
}  # fmt: skip
SEGMENTS = ("AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY")
PRIORITIES = ("1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW")
STATUSES = ("F", "O", "P")
RETURN_FLAGS, LINE_STATUSES = ("A", "N", "R"), ("F", "O")
INSTRUCTIONS = ("COLLECT COD", "DELIVER IN PERSON", "NONE", "TAKE BACK RETURN")
MODES = ("AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK")
TYPES = tuple(
    f"{first} {second} {third}"
    for first in ("STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO")
    for second in ("ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED")
    for third in ("TIN", "NICKEL", "BRASS", "STEEL", "COPPER")
)
CONTAINERS = tuple(
    f"{size} {kind}"
    for size in ("SM", "LG", "MED", "JUMBO", "WRAP")
    for kind in ("CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM")
)
BRANDS = tuple(f"Brand#{maker}{line}" for maker in range(1, 6) for line in range(1, 6))
COLORS = (
    "almond", "amber", "azure", "beige", "black", "blue", "brown", "coral", "cream", "forest", "gold", "green", "grey",
    "indigo", "ivory", "khaki", "lemon", "lilac", "lime", "linen", "magenta", "maroon", "mint", "navy", "olive",
    "orange", "peach", "pink", "plum", "purple", "red", "rose", "ruby", "salmon", "sienna", "silver", "slate", "teal",
    "turquoise", "violet", "wheat", "white", "yellow",
)  # fmt: skip
REMARKS = (
    "call before noon", "gift wrap", "leave at the gate", "no hurry", "regular parcels", "ring twice",
    "same as last time", "send in two parts", "signature needed", "weekdays only",
)  # fmt: skip
SPECIAL = "special packing, as in earlier requests"

FIRST_DAY, LAST_ORDER, LAST_DAY = (np.datetime64(day, "D") for day in ("1992-01-01", "1998-08-02", "1998-12-31"))
TODAY = np.datetime64("1995-06-17", "D")  # what was shipped or received by then is settled
BALANCE_RANGE = (-1000, 10_000)
QUANTITY_RANGE = (1, 50)
PRICE_RANGE = (900, 105_000)  # of a line: up to 50 pieces of at most 2,099
TOTAL_RANGE = (800, 600_000)  # of an order

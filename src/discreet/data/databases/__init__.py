"""Invented databases of several tables that belong together: a hospital's, and a trading company's."""

from discreet.data.databases.hospital import HospitalDatabase, Patients, Regions, Visits, hospital_database
from discreet.data.databases.trade import TradeDatabase, trade_database

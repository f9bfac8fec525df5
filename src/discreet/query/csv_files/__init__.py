"""CSV files, read by records and converted once into a private copy that the engine reads."""

from discreet.query.csv_files.conversion import stored_name
from discreet.query.csv_files.copies import Copy
from discreet.query.csv_files.reader import FORMAT_PLACE, CsvRecords, header_of
from discreet.query.csv_files.sources import SourceRefused, convert_source, open_copies

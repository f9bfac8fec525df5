"""The local model beside its peers and its theory."""

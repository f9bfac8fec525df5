"""Planning a collection: which protocol, how many people, what error, by law and by simulation."""

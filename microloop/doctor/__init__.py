"""Whether everything that microloop needs is here and works: the examinations behind `microloop doctor`."""

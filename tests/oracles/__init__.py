"""Independent models that the tests compare with: test-only, nothing here is shipped."""

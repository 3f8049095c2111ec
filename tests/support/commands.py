"""Commands that have to succeed."""

import subprocess


def printed_by(*command, **options):
    """Run a command, which must end with status 0; return what it prints."""
    command = [str(word) for word in command]
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout

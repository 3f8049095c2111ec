"""``symgen`` and ``python -m symgen``: the command line, ended quietly by signals at any moment."""

import signal
import sys


def main() -> None:
    """Run the command line; what asks it to end does as Ctrl-C does, also while it is imported."""
    for name in ("SIGTERM", "SIGHUP"):  # of `kill`, `timeout`, and a terminal that is closed
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)
    try:
        from symgen.cli import main as command_line

        command_line()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()

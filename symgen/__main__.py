"""``symgen`` and ``python -m symgen``: the command line, which signals end without a traceback."""

import signal
import sys


def main() -> None:
    """Run the command line; signals to end it act as Ctrl-C, also during imports."""
    for name in ("SIGTERM", "SIGHUP"):  # of `kill`, `timeout`, and a closed terminal
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

"""Steps that Ctrl-C waits for."""

from __future__ import annotations

import signal
import threading

import pytest

from symgen.toolchain.signals import deferred_signals


@pytest.fixture(autouse=True)
def usual_handlers():
    former = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    yield
    for number, handler in former.items():
        signal.signal(number, handler)


def test_the_step_ends_first() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), deferred_signals():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        done.append("step")
    assert done == ["step"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_without_a_signal_nothing_happens() -> None:
    with deferred_signals():
        pass
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_errors_of_the_step_come_through() -> None:
    with pytest.raises(ValueError, match="its own"), deferred_signals():
        raise ValueError("its own")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_what_is_ignored_stays_ignored() -> None:
    with deferred_signals():
        signal.raise_signal(signal.SIGTERM)
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN


def test_other_threads_hear_no_signals_anyway() -> None:
    entered = []

    def work() -> None:
        with deferred_signals():
            entered.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert entered == [signal.default_int_handler]

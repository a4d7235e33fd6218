"""A pytest plugin for scripts/client-suite: a line for each test, and runs of parts of a suite.

SUITE_REPORT  the file to which a line for each test is added: outcome, name, reason of a failure, seconds
SUITE_DONE    a file of the same form: its tests don't run again
SUITE_FROM, SUITE_TO  numbers of the first test and of the one after the last, counted before tests are left out as done
SUITE_LIMIT  seconds after which a test ends its process, even if it never gives Python back its lock, as a driver's compiler may
"""

import faulthandler
import os

import pytest


# Last, so that only tests are counted which other options leave.
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    with open(os.environ["SUITE_DONE"]) as file:
        done = {line.split("\t")[1] for line in file}
    first = int(os.environ.get("SUITE_FROM") or 0)
    last = int(os.environ.get("SUITE_TO") or len(items))
    wanted = [item for item in items[first:last] if item.nodeid not in done]
    chosen = set(wanted)
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = wanted


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    with open(os.devnull, "w") as nowhere:
        # By a thread of C, which needs no lock.
        faulthandler.dump_traceback_later(float(os.environ.get("SUITE_LIMIT") or 3600), exit=True, file=nowhere)
        try:
            return (yield)
        finally:
            faulthandler.cancel_dump_traceback_later()


def pytest_runtest_logreport(report):
    # Workers of pytest-xdist leave the reports to their controller.
    if "PYTEST_XDIST_WORKER" in os.environ:
        return
    # Of a test that passes only the call counts; of others the first step that doesn't pass.
    if report.when != "call" and report.outcome == "passed":
        return
    # A test that runs once more with another outcome is reported again.
    if report.outcome == "rerun":
        return
    reason = ""
    if report.outcome == "failed":
        lines = report.longreprtext.splitlines()
        errors = [line for line in lines if line.startswith("E ")]
        reason = " ".join((errors[:1] or lines[-1:] or [""])[0].split())
    with open(os.environ["SUITE_REPORT"], "a") as file:
        file.write(f"{report.outcome}\t{report.nodeid}\t{reason[:200]}\t{report.duration:.1f}\n")

"""A pytest plugin: appends a line for each test to the file SUITE_REPORT: outcome, name, and the last line of the reason."""

import os


def pytest_runtest_logreport(report):
    # Workers of pytest-xdist leave the reports to their controller.
    if "PYTEST_XDIST_WORKER" in os.environ:
        return
    if report.when != "call" and report.outcome == "passed":
        return
    outcome = "skipped" if report.outcome == "skipped" else report.outcome
    reason = ""
    if report.outcome == "failed":
        lines = [line for line in report.longreprtext.splitlines() if line.startswith("E ")] or report.longreprtext.splitlines()
        reason = lines[0 if lines and lines[0].startswith("E ") else -1].strip() if lines else ""
    with open(os.environ["SUITE_REPORT"], "a") as file:
        file.write(f"{outcome}\t{report.nodeid}\t{reason[:200]}\n")

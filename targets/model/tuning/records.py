"""The records of searches: schedules with their times, as MetaSchedule's JSON database, one for each processor and number of threads."""

import json

import quote
from failure import Failure
from tvm.s_tir import meta_schedule

from .isolation import Attempt, Failed

LIMIT = 600
"""Seconds to read a database."""


def opened(folder, name):
    """Returns the database of a folder, which is created if it is missing."""
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    files = [place / "database_workload.json", place / "database_tuning_record.json"]
    for file in files:
        _check_lines(file)

    def database():
        return meta_schedule.database.JSONDatabase(*map(str, files))

    try:
        # TVM does not check all that it reads.
        Attempt(lambda: len(database()), LIMIT).result()
    except Failed as failed:
        raise damaged(files[1], str(failed)) from None
    return database()


def _check_lines(file):
    lines = file.read_text(errors="replace").splitlines() if file.is_file() else []
    for at, line in enumerate(lines, 1):
        try:
            json.loads(line)
        except ValueError:
            raise damaged(file, f"line {at} is not JSON") from None


def damaged(file, reason):
    return Failure(f"the records {file} are damaged, {quote.visible(reason)}: remove their folder, or name another by --records")


def best(database, workload):
    """Returns the fastest record of a workload, or None."""
    return next(iter(database.get_top_k(workload, 1)), None)


def seconds(database, workload, trace):
    """Returns the time of a schedule of a workload, or None without a record of it."""
    found = database.get_top_k(workload, len(database))
    return next((float(record.run_secs[0]) for record in found if str(record.trace) == str(trace)), None)


def commit(database, workload, trace, seconds, target, arguments):
    """Adds a record."""
    database.commit_tuning_record(meta_schedule.database.TuningRecord(trace, workload, [seconds], target, arguments))

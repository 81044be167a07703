"""Types that the phases pass on: sources, outcomes with their reasons and evidence, requests for runs.

There are two kinds of failure: a source that is at fault is refused and stays so until it is changed; one that we
could not fetch or read in time, in memory or for lack of a program has failed and may be tried again.
"""

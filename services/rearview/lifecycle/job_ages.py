"""How long a job has waited, of jobs that carry no time of their own: from when ids had not come to its id yet."""

from collections import deque

MOST_MARKS = 2_048


class JobAges:
    """Remembers how far ids had come at each look. Ages are as exact as looks are frequent, and begin with the first
    look: a job that is older counts from there. Memory is bounded: of too many marks every second one goes."""

    def __init__(self) -> None:
        self._marks: deque[tuple[float, int]] = deque()

    def note(self, moment: float, last_id: int) -> None:
        """Note at a moment, in seconds on a steady clock, the last id that was given out."""
        if self._marks and self._marks[-1][1] >= last_id:
            return  # no id was given out since
        self._marks.append((moment, last_id))
        if len(self._marks) > MOST_MARKS:
            self._marks = deque(mark for at, mark in enumerate(self._marks) if at % 2 or at == 0)

    def age_seconds(self, moment: float, job_id: int) -> float:
        """Return how long ago a job with this id was there for certain, at least 0."""
        return next((max(moment - seen, 0.0) for seen, last_id in self._marks if last_id >= job_id), 0.0)

    def forget_before(self, job_id: int) -> None:
        """Drop what no waiting job needs: marks before this id, but for the last of them."""
        while len(self._marks) > 1 and self._marks[0][1] < job_id and self._marks[1][1] < job_id:
            self._marks.popleft()

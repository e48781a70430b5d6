-- Services of before ask by it.
DROP INDEX event_by_age;

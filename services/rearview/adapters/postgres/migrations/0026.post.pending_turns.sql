-- What writers of before called.
DROP FUNCTION rearview_note_addition(uuid, uuid, text, int4[], int4[], bytea, int2[]);

-- Services of before ask by this.
DROP FUNCTION rearview_lapsed(uuid, uuid, smallint, timestamptz, timestamptz);

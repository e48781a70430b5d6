-- Services of before ask by this.
DROP FUNCTION IF EXISTS rearview_lapsed(uuid, uuid, smallint, timestamptz, timestamptz);

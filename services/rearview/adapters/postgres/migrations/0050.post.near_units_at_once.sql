-- Services of before ask by this.
DROP FUNCTION rearview_near_units(smallint, uuid, uuid, halfvec, int);

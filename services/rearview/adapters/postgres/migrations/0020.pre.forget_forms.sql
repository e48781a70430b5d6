-- Forgetting single turns: what an episode lost, and the units around forgotten turns that still carry traces of them.

ALTER TABLE forget_receipt
  ADD COLUMN cut         jsonb NOT NULL DEFAULT '[]',   -- links that episodes lost: [memory, event, session, sequence]
  ADD COLUMN stale_units uuid[] NOT NULL DEFAULT '{}';  -- whose vectors and keywords are still to be made anew

-- How many tokens a growing keyword bag has taken in: its cap cannot be told from the weights alone.
ALTER TABLE open_window ADD COLUMN token_count int4 NOT NULL DEFAULT 0;

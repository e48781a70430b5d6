-- Sessions, events, memories and their statistics. One row a memory in every tier; a tier move moves only the
-- search projection (0003).

CREATE TABLE session (
  tenant_id        uuid NOT NULL,
  namespace_id     uuid NOT NULL,
  session_id       text NOT NULL,
  started_at       timestamptz NOT NULL,
  last_event_at    timestamptz NOT NULL,
  ended_at         timestamptz,
  last_sequence    bigint NOT NULL DEFAULT 0,  -- of the newest event
  indexed_sequence bigint NOT NULL DEFAULT 0,  -- events up to here are indexed or dropped
  index_queued     boolean NOT NULL DEFAULT false,  -- a job that will look at this session is waiting
  open_memory_id   uuid,                       -- the episode that the next turn may still join
  window_closed    boolean NOT NULL DEFAULT true,   -- false while the last turns' context windows are open
  forgotten_at     timestamptz,
  PRIMARY KEY (tenant_id, namespace_id, session_id)
) WITH (fillfactor = 50);
CREATE INDEX session_by_recency ON session (tenant_id, namespace_id, last_event_at DESC, session_id);

CREATE TABLE event (
  tenant_id     uuid NOT NULL,
  namespace_id  uuid NOT NULL,
  event_id      uuid NOT NULL,
  session_id    text NOT NULL,
  sequence      bigint NOT NULL,
  role          smallint NOT NULL,
  speaker       text NOT NULL DEFAULT '',
  content       text NOT NULL,
  tool_call     jsonb,
  image_caption text NOT NULL DEFAULT '',
  metadata      jsonb NOT NULL DEFAULT '{}',
  redactions    text[] NOT NULL DEFAULT '{}',
  occurred_at   timestamptz NOT NULL,
  created_at    timestamptz NOT NULL,
  keywords      int4[] NOT NULL DEFAULT '{}',  -- token hashes, for the raw-turn route
  tombstoned    boolean NOT NULL DEFAULT false,
  receipt_id    uuid,                          -- the forget that tombstoned it
  outcome       smallint NOT NULL DEFAULT 1,   -- domain.event.CaptureOutcome
  importance    real NOT NULL DEFAULT 0,
  capture       jsonb NOT NULL DEFAULT '{}',   -- reason, superseded ids, milliseconds; never content
  indexed_at    timestamptz,
  PRIMARY KEY (tenant_id, namespace_id, event_id)
) WITH (fillfactor = 85);
CREATE UNIQUE INDEX event_by_sequence ON event (tenant_id, namespace_id, session_id, sequence);
-- The raw-turn route sees what no memory holds: turns not indexed yet, and dropped ones.
CREATE INDEX event_pending ON event (tenant_id, namespace_id, created_at DESC) WHERE outcome = 1 AND NOT tombstoned;
CREATE INDEX event_raw_keywords ON event USING gin (tenant_id, namespace_id, keywords) WHERE outcome IN (1, 3) AND NOT tombstoned;
CREATE INDEX event_by_receipt ON event (tenant_id, receipt_id) WHERE receipt_id IS NOT NULL;

CREATE TABLE memory (
  tenant_id      uuid NOT NULL,
  namespace_id   uuid NOT NULL,
  memory_id      uuid NOT NULL,
  type           smallint NOT NULL,            -- domain.memory.MemoryType
  state          smallint NOT NULL DEFAULT 1,  -- domain.memory.MemoryState
  tier           smallint NOT NULL DEFAULT 1,  -- domain.memory.Tier
  content        text,                         -- NULL when cold
  content_hash   bytea NOT NULL,               -- SHA-256 of the normalised text, for exact duplicates
  priority       real NOT NULL DEFAULT 0.5,
  pinned         boolean NOT NULL DEFAULT false,
  labels         jsonb NOT NULL DEFAULT '{}',
  metadata       jsonb NOT NULL DEFAULT '{}',
  entities       jsonb NOT NULL DEFAULT '[]',
  entity_keys    text[] NOT NULL DEFAULT '{}', -- canonical forms, for the entity route
  intent         text NOT NULL DEFAULT 'other',
  valence        real NOT NULL DEFAULT 0,
  intensity      real NOT NULL DEFAULT 0,
  origin         smallint NOT NULL,
  trust          smallint NOT NULL,
  confidence     real NOT NULL DEFAULT 1,
  valid_from     timestamptz,
  valid_to       timestamptz,
  occurred_at    timestamptz NOT NULL,
  occurred_until timestamptz,
  created_at     timestamptz NOT NULL,
  updated_at     timestamptz NOT NULL,
  expires_at     timestamptz,
  superseded_by  uuid,
  session_id     text NOT NULL DEFAULT '',
  languages      smallint NOT NULL DEFAULT 0,  -- 4 Chinese, 8 English, as search_unit.flags
  generation     smallint NOT NULL,            -- model_generation.ordinal of its vectors
  redactions     text[] NOT NULL DEFAULT '{}',
  fact_subject   text,
  fact_attribute text,
  fact_value     text,
  fact_unit      text,
  single_valued  boolean,
  receipt_id     uuid,                         -- the forget that tombstoned it
  state_before   smallint,                     -- to which a restore returns it
  version        bigint NOT NULL DEFAULT 1,
  PRIMARY KEY (tenant_id, namespace_id, memory_id)
) WITH (fillfactor = 90);
CREATE INDEX memory_by_recency ON memory (tenant_id, namespace_id, created_at DESC, memory_id);
CREATE INDEX memory_by_entity ON memory USING gin (tenant_id, namespace_id, entity_keys);
CREATE INDEX memory_by_session ON memory (tenant_id, namespace_id, session_id) WHERE session_id <> '';
CREATE INDEX memory_by_hash ON memory (tenant_id, namespace_id, content_hash);
CREATE INDEX memory_by_receipt ON memory (tenant_id, receipt_id) WHERE receipt_id IS NOT NULL;
-- Invariant: at most one active value of a single-valued attribute.
CREATE UNIQUE INDEX memory_one_active_value ON memory (tenant_id, namespace_id, fact_subject, fact_attribute)
  WHERE state = 1 AND single_valued;

-- From a memory to its events, and forward again. The same event may serve an episode and a fact.
CREATE TABLE memory_event (
  tenant_id    uuid NOT NULL,
  namespace_id uuid NOT NULL,
  memory_id    uuid NOT NULL,
  event_id     uuid NOT NULL,
  session_id   text NOT NULL,
  sequence     bigint NOT NULL,
  PRIMARY KEY (tenant_id, namespace_id, memory_id, event_id)
);
CREATE INDEX memory_event_forward ON memory_event (tenant_id, namespace_id, event_id);

-- Narrow, so that counting an access stays a HOT update.
CREATE TABLE memory_stats (
  tenant_id        uuid NOT NULL,
  namespace_id     uuid NOT NULL,
  memory_id        uuid NOT NULL,
  access_count     bigint NOT NULL DEFAULT 0,
  last_accessed_at timestamptz,
  PRIMARY KEY (tenant_id, namespace_id, memory_id)
) WITH (fillfactor = 50);

CREATE TABLE recall_trace (
  tenant_id  uuid NOT NULL,
  trace_id   uuid NOT NULL,
  principal  text NOT NULL,
  namespaces uuid[] NOT NULL,
  trace      jsonb NOT NULL,                   -- the query in it is redacted; candidates are names and scores
  created_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, trace_id)
);
CREATE INDEX recall_trace_by_age ON recall_trace (created_at);

CREATE TABLE forget_receipt (
  tenant_id        uuid NOT NULL,
  receipt_id       uuid NOT NULL,
  namespace_id     uuid NOT NULL,
  namespace        text NOT NULL,
  state            smallint NOT NULL,          -- domain.forget.ForgetState
  principal        text NOT NULL,
  reason           text NOT NULL DEFAULT '',
  session_id       text NOT NULL DEFAULT '',   -- set when a whole session was forgotten
  memory_ids       uuid[] NOT NULL,
  event_ids        uuid[] NOT NULL,
  tombstoned_at    timestamptz NOT NULL,
  purge_after      timestamptz NOT NULL,
  purged_at        timestamptz,
  verified_at      timestamptz,
  places           jsonb NOT NULL DEFAULT '[]',
  digest           text NOT NULL DEFAULT '',
  PRIMARY KEY (tenant_id, receipt_id)
);
CREATE INDEX forget_receipt_due ON forget_receipt (purge_after) WHERE state = 1;

-- Ids and times of everything ever forgotten: what an import, a replay or a restore may not bring back.
CREATE TABLE tombstone (
  tenant_id    uuid NOT NULL,
  namespace_id uuid NOT NULL,
  resource_id  uuid NOT NULL,
  kind         text NOT NULL CHECK (kind IN ('memory', 'event')),
  receipt_id   uuid NOT NULL,
  created_at   timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, namespace_id, resource_id)
);

DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['session', 'event', 'memory', 'memory_event', 'memory_stats', 'recall_trace', 'forget_receipt', 'tombstone'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY own_tenant ON %I TO rearview_service USING (tenant_id = (SELECT rearview_tenant()))', t);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO rearview_service', t);
  END LOOP;
END $$;

-- Turns that no memory holds and that share a keyword with the query (or are simply the newest, when it has none).
-- Runs as the owner because && is not leak-proof: under row-level security the index would not be used. It therefore
-- checks the tenant itself.
CREATE FUNCTION rearview_raw_turns(p_tenant uuid, p_namespace uuid, p_keywords int4[], p_limit int)
RETURNS TABLE (event_id uuid, session_id text, shared int, occurred_at timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF p_tenant IS DISTINCT FROM rearview_tenant() THEN RAISE insufficient_privilege; END IF;
  RETURN QUERY
    SELECT e.event_id, e.session_id,
           (SELECT count(*)::int FROM unnest(e.keywords) k WHERE k = ANY (p_keywords)), e.occurred_at
    FROM event e
    WHERE e.tenant_id = p_tenant AND e.namespace_id = p_namespace AND e.keywords && p_keywords
      AND e.outcome IN (1, 3) AND NOT e.tombstoned
    ORDER BY 3 DESC, 4 DESC LIMIT p_limit;
END $$;

-- Memories that mention one of the entities; definer for the same reason.
CREATE FUNCTION rearview_memories_by_entity(p_tenant uuid, p_namespace uuid, p_keys text[], p_states int2[], p_limit int)
RETURNS TABLE (memory_id uuid, shared int, occurred_at timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF p_tenant IS DISTINCT FROM rearview_tenant() THEN RAISE insufficient_privilege; END IF;
  RETURN QUERY
    SELECT m.memory_id, (SELECT count(*)::int FROM unnest(m.entity_keys) k WHERE k = ANY (p_keys)), m.occurred_at
    FROM memory m
    WHERE m.tenant_id = p_tenant AND m.namespace_id = p_namespace AND m.entity_keys && p_keys AND m.state = ANY (p_states)
    ORDER BY 2 DESC, 3 DESC LIMIT p_limit;
END $$;
REVOKE ALL ON FUNCTION rearview_raw_turns(uuid, uuid, int4[], int), rearview_memories_by_entity(uuid, uuid, text[], int2[], int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rearview_raw_turns(uuid, uuid, int4[], int), rearview_memories_by_entity(uuid, uuid, text[], int2[], int) TO rearview_service;
GRANT EXECUTE ON FUNCTION rearview_bump_epoch(uuid, uuid, boolean), rearview_tenant() TO rearview_service, rearview_operator;

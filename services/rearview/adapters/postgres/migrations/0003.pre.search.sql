-- The search projection: narrow rows of search units (a turn, or a memory without turns), one set of tables for each
-- model generation, because a vector column has the dimension of its model and vectors of two models are never
-- compared. Figures behind the shape stand in docs/decisions.

-- The one table that is not keyed by tenant: models are the platform's. On Citus it is a reference table.
CREATE TABLE model_generation (
  ordinal       smallint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  generation_id text NOT NULL UNIQUE,
  model         text NOT NULL,
  dimension     int NOT NULL CHECK (dimension BETWEEN 1 AND 4000),
  card          jsonb NOT NULL,
  current       boolean NOT NULL DEFAULT false,
  created_at    timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX model_generation_current ON model_generation (current) WHERE current;
GRANT SELECT ON model_generation TO rearview_service, rearview_operator;

-- Document frequencies of keywords, of the full bags, per namespace: the IDF of BM25.
CREATE TABLE keyword_frequency (
  tenant_id    uuid NOT NULL,
  namespace_id uuid NOT NULL,
  keyword      int4 NOT NULL,
  units        int4 NOT NULL,
  PRIMARY KEY (tenant_id, namespace_id, keyword)
) WITH (fillfactor = 70);

CREATE TABLE namespace_statistics (
  tenant_id     uuid NOT NULL,
  namespace_id  uuid NOT NULL,
  units         bigint NOT NULL DEFAULT 0,
  keyword_total double precision NOT NULL DEFAULT 0,  -- sum of the bags' weights; over units it is avgdl
  chinese_units bigint NOT NULL DEFAULT 0,
  english_units bigint NOT NULL DEFAULT 0,
  memories      bigint NOT NULL DEFAULT 0,
  bytes         bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant_id, namespace_id)
) WITH (fillfactor = 50);

-- Who speaks in a namespace, so that a query that names one of them can be understood.
CREATE TABLE speaker (
  tenant_id    uuid NOT NULL,
  namespace_id uuid NOT NULL,
  speaker      int4 NOT NULL,               -- hash of the canonical name, as in search_unit
  name         text NOT NULL,
  PRIMARY KEY (tenant_id, namespace_id, speaker)
);

-- The last turns of a session whose context window (two turns either way) is still open: what is needed to finish
-- their vectors and keyword bags without embedding anything twice.
CREATE TABLE open_window (
  tenant_id    uuid NOT NULL,
  namespace_id uuid NOT NULL,
  session_id   text NOT NULL,
  event_id     uuid NOT NULL,
  sequence     bigint NOT NULL,
  memory_id    uuid NOT NULL,
  plain        bytea NOT NULL,              -- float32, centred, L2-normalised
  weighted_sum bytea NOT NULL,              -- float32, sum of w * neighbour, not normalised
  own_keywords int4[] NOT NULL,
  keywords     int4[] NOT NULL,             -- the bag so far
  weights      float4[] NOT NULL,
  PRIMARY KEY (tenant_id, namespace_id, session_id, event_id)
);

DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['keyword_frequency', 'namespace_statistics', 'speaker', 'open_window'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY own_tenant ON %I TO rearview_service USING (tenant_id = (SELECT rearview_tenant()))', t);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO rearview_service', t);
  END LOOP;
END $$;

-- The keyword hashes of a sparse vector, for the GIN index.
CREATE FUNCTION sv_keys(sparsevec) RETURNS int4[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN string_to_array(regexp_replace(substr(split_part($1::text, '}', 1), 2), ':[^,]*', '', 'g'), ',')::int4[];
END $$;
GRANT EXECUTE ON FUNCTION sv_keys(sparsevec) TO rearview_service;

-- Registers a model generation and makes its tables; returns its ordinal, also when it was there. The first one
-- becomes current. `search_unit_N` carries the vector index; `search_unit_fresh_N` takes every write and is
-- scanned exactly, and closed rows move over in batches, because inserting into HNSW costs 300 times as much.
CREATE FUNCTION rearview_register_generation(p_generation_id text, p_model text, p_dimension int, p_card jsonb)
RETURNS smallint LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE n smallint; t text;
BEGIN
  SELECT ordinal INTO n FROM model_generation WHERE generation_id = p_generation_id;
  IF FOUND THEN RETURN n; END IF;
  PERFORM pg_advisory_xact_lock(hashtext('rearview_register_generation'));
  SELECT ordinal INTO n FROM model_generation WHERE generation_id = p_generation_id;
  IF FOUND THEN RETURN n; END IF;
  INSERT INTO model_generation (generation_id, model, dimension, card, current)
  VALUES (p_generation_id, p_model, p_dimension, p_card, NOT EXISTS (SELECT FROM model_generation WHERE current))
  RETURNING ordinal INTO n;
  FOREACH t IN ARRAY ARRAY['search_unit_' || n, 'search_unit_fresh_' || n] LOOP
    EXECUTE format($ddl$
      CREATE TABLE %1$I (
        tenant_id    uuid NOT NULL,
        namespace_id uuid NOT NULL,
        unit_id      uuid NOT NULL,               -- the event's id, or the memory's where it has no turns
        memory_id    uuid NOT NULL,
        occurred_at  timestamptz NOT NULL,
        speaker      int4 NOT NULL DEFAULT 0,     -- hash of the speaker's canonical name; 0 for none
        flags        int2 NOT NULL DEFAULT 0,     -- 1 resolvable time, 2 role user, 4 Chinese, 8 English
        state        int2 NOT NULL DEFAULT 0,     -- 0 active, 1 superseded or inactive, 2 tombstoned
        type         int2 NOT NULL,               -- of its memory
        closed       boolean NOT NULL,            -- its context window will not change any more
        created_at   timestamptz NOT NULL,
        embedding    halfvec(%2$s) NOT NULL,      -- centred; smoothed over the window for turns
        sv           sparsevec(1000000000) NOT NULL,  -- BM25 weights by keyword hash, at most 48
        PRIMARY KEY (tenant_id, namespace_id, unit_id)
      ) WITH (toast_tuple_target = 8160, fillfactor = 90)$ddl$, t, p_dimension);
    EXECUTE format('CREATE INDEX ON %I (tenant_id, namespace_id, occurred_at)', t);
    EXECUTE format('CREATE INDEX ON %I (tenant_id, namespace_id, memory_id)', t);
    EXECUTE format('CREATE INDEX ON %I USING gin (sv_keys(sv))', t);
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY own_tenant ON %I TO rearview_service USING (tenant_id = (SELECT rearview_tenant()))', t);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO rearview_service', t);
  END LOOP;
  EXECUTE format('CREATE INDEX ON %I USING hnsw (embedding halfvec_cosine_ops) WITH (m = 32, ef_construction = 128)', 'search_unit_' || n);
  RETURN n;
END $$;
REVOKE ALL ON FUNCTION rearview_register_generation(text, text, int, jsonb) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rearview_register_generation(text, text, int, jsonb) TO rearview_service;

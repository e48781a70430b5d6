-- A namespace's policy is looked up once a statement, and not once a memory.

-- After how many seconds without use cold memories lapse, by the number of their type.
CREATE FUNCTION rearview_expire_after(p_tenant uuid, p_namespace uuid) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT coalesce(n.expire_after, t.expire_after)
  FROM (SELECT p_tenant AS tenant_id) x
  LEFT JOIN tenant_policy t ON t.tenant_id = x.tenant_id
  LEFT JOIN namespace_policy n ON n.tenant_id = x.tenant_id AND n.namespace_id = p_namespace
$$;

-- Whether a cold memory of a type, used last then, lapses: recall does not wait for the sweep.
CREATE FUNCTION rearview_lapses(p_expire_after jsonb, p_type smallint, p_used timestamptz, p_now timestamptz)
RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT coalesce(p_used <= p_now - make_interval(secs => (p_expire_after ->> p_type::text)::float8), false)
$$;

-- Whether anything has changed of who may do what, and what was written to the namespaces that a call is about.

-- name: now
SELECT a.version, e.namespace_id, e.slot, e.breaking, e.additive
FROM tenant_access a
LEFT JOIN namespace_epoch e ON e.tenant_id = a.tenant_id AND e.namespace_id = ANY (%(namespace_ids)s::uuid[])
WHERE a.tenant_id = %(tenant_id)s

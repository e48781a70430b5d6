-- Erasing a deleted namespace.

-- name: erase
SELECT place, erased FROM rearview_erase_namespace(%(namespace_id)s::uuid, %(limit)s::int)

-- name: is_deleted
SELECT EXISTS (SELECT FROM namespace
               WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND deleted_at IS NOT NULL)
    OR EXISTS (SELECT FROM tenant WHERE tenant_id = %(tenant_id)s AND deleted_at IS NOT NULL)

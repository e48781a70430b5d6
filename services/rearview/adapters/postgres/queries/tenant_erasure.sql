-- Erasing a deleted tenant.

-- name: deleted
SELECT deleted_at, erased FROM tenant WHERE tenant_id = %(tenant_id)s AND deleted_at IS NOT NULL AND erased_at IS NULL

-- name: namespaces
SELECT namespace_id FROM namespace WHERE tenant_id = %(tenant_id)s ORDER BY namespace_id

-- name: erase
SELECT place, erased FROM rearview_erase_tenant(%(limit)s::int)

-- name: note
SELECT rearview_note_tenant_erasure(%(counts)s::jsonb, %(ended)s::timestamptz)

-- name: record
INSERT INTO audit_record (tenant_id, record_id, recorded_at, principal, action, resource_names, detail, request_id,
                          trace_id)
VALUES (%(tenant_id)s, %(record_id)s, %(recorded_at)s, %(principal)s, %(action)s, %(resource_names)s, %(detail)s,
        %(request_id)s, %(trace_id)s)

-- Model generations: whose vectors the search tables hold.

-- name: register
SELECT rearview_register_generation(%(generation_id)s::text, %(model)s::text, %(dimension)s::int, %(card)s::jsonb)

-- name: current
SELECT generation_id, model FROM model_generation WHERE current

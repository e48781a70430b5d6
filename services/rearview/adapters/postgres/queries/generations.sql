-- Model generations: whose vectors the search tables hold.

-- name: register
SELECT rearview_register_generation(%(generation_id)s::text, %(model)s::text, %(dimension)s::int, %(card)s::jsonb)

-- name: current
SELECT generation_id, model FROM model_generation WHERE current

-- name: adopt
SELECT rearview_adopt_generation(%(ordinal)s::smallint)

-- name: ordinals
SELECT ordinal FROM rearview_search_generations()

-- name: answering
SELECT rearview_answering_generation(%(tenant_id)s)

{{ config(
    materialized='table',
    indexes=[{'columns': ['account']}],
    post_hook={'sql': 'CREATE UNIQUE INDEX ON {{ this }} (id)', 'transaction': false}
) }}
SELECT id, account, amount * {{ var('factor') }} AS amount, extract(month FROM paid_on)::int AS month
FROM {{ ref('payments') }}

{{ config(materialized='table', indexes=[{'columns': ['account']}]) }}
SELECT id, account, amount * {{ var('factor') }} AS amount, extract(month FROM paid_on)::int AS month
FROM {{ ref('payments') }}

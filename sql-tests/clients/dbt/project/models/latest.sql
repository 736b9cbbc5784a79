{{ config(materialized='incremental', incremental_strategy='delete+insert', unique_key='account') }}
SELECT account, count(*) AS payments, sum(amount)::numeric(12,2) AS total, max(id) AS last_id
FROM {{ ref('payments') }}
{% if is_incremental() %}
WHERE account IN (SELECT account FROM {{ ref('payments') }} WHERE id > (SELECT max(last_id) FROM {{ this }}))
{% endif %}
GROUP BY account

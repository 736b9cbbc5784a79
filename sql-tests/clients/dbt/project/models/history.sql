{{ config(materialized='incremental', incremental_strategy='append') }}
SELECT id, account, amount * {{ var('factor') }} AS amount FROM {{ ref('payments') }}
{% if is_incremental() %}
WHERE id > (SELECT max(id) FROM {{ this }})
{% endif %}

{{ config(materialized='view') }}
SELECT month, count(*) AS payments, sum(amount)::numeric(12,2) AS total FROM {{ ref('facts') }} GROUP BY month

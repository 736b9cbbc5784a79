-- docs: model
{{ config(materialized='materialized_view') }}
SELECT account, count(*) AS payments, sum(amount) AS total FROM {{ ref('payments') }} GROUP BY account
-- docs: end

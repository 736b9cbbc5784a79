{{ config(materialized='materialized_view') }}
SELECT paid_on, count(*) AS payments, sum(total) AS balance
FROM {{ ref('payments') }} JOIN {{ ref('balances') }} USING (account)
WHERE paid_on IS NOT NULL
GROUP BY paid_on

SELECT sum(total) FROM {{ ref('balances') }}
HAVING sum(total) <> (SELECT sum(amount) FROM {{ ref('payments') }})

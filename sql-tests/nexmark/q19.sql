-- q19: an auction's ten highest bids
SELECT *
FROM (
    SELECT *, row_number() OVER (PARTITION BY auction ORDER BY price DESC, date_time) AS rank_number
    FROM bid
) AS ranked
WHERE rank_number <= 10

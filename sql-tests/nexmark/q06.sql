-- q06: average price of a seller's last auctions
SELECT q.seller, q.id,
    avg(q.price) OVER (
        PARTITION BY q.seller ORDER BY q.date_time, q.id ROWS BETWEEN 10 PRECEDING AND CURRENT ROW
    ) AS price
FROM (
    SELECT a.id, a.seller, b.price, b.date_time,
        row_number() OVER (PARTITION BY a.id, a.seller ORDER BY b.price DESC, b.date_time) AS rownum
    FROM auction a, bid b
    WHERE a.id = b.auction AND b.date_time BETWEEN a.date_time AND a.expires
) AS q
WHERE q.rownum <= 1

-- q07: highest bid of each 10 s
SELECT b.auction, b.price, b.bidder, b.date_time, b.extra
FROM bid b
JOIN (
    SELECT max(price) AS maxprice,
        date_bin(interval '10 seconds', date_time, timestamp '2000-01-01') + interval '10 seconds'
            AS ends
    FROM bid
    GROUP BY 2
) AS most ON b.price = most.maxprice
WHERE b.date_time BETWEEN most.ends - interval '10 seconds' AND most.ends

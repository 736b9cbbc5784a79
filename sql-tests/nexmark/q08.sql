-- q08: new people who sell within the 10 s
SELECT p.id, p.name, p.starttime
FROM (
    SELECT id, name, date_bin(interval '10 seconds', date_time, timestamp '2000-01-01') AS starttime
    FROM person GROUP BY 1, 2, 3
) AS p
JOIN (
    SELECT seller, date_bin(interval '10 seconds', date_time, timestamp '2000-01-01') AS starttime
    FROM auction GROUP BY 1, 2
) AS a ON p.id = a.seller AND p.starttime = a.starttime

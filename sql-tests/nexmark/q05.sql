-- q05: hot items: sliding windows of 10 s every 2 s, without a window function in FROM
WITH hops AS (
    SELECT b.auction,
        date_bin(interval '2 seconds', b.date_time, timestamp '2000-01-01')
            - hop * interval '2 seconds' AS starttime
    FROM bid b CROSS JOIN generate_series(0, 4) AS hop
), counted AS (
    SELECT auction, starttime, count(*) AS num FROM hops GROUP BY auction, starttime
), most AS (
    SELECT starttime, max(num) AS maxn FROM counted GROUP BY starttime
)
SELECT c.auction, c.num, c.starttime
FROM counted c JOIN most m ON c.starttime = m.starttime AND c.num >= m.maxn

-- q08: stores near preferred customers
SELECT s_store_name, sum(ss_net_profit) AS profit
FROM store_sales, date_dim, store, (
    SELECT ca_zip
    FROM (
        SELECT substring(ca_zip, 1, 5) AS ca_zip FROM customer_address
        WHERE substring(ca_zip, 1, 5) IN ('35709', '35818', '31387', '47305', '75691', '88274',
            '60576', '43848', '24128', '76232', '65084', '87816', '83926', '77556', '20548')
        INTERSECT
        SELECT ca_zip
        FROM (
            SELECT substring(ca_zip, 1, 5) AS ca_zip, count(*) AS cnt
            FROM customer_address, customer
            WHERE ca_address_sk = c_current_addr_sk AND c_preferred_cust_flag = 'Y'
            GROUP BY ca_zip
            HAVING count(*) > 2
        ) AS a1
    ) AS a2
) AS v1
WHERE ss_store_sk = s_store_sk AND ss_sold_date_sk = d_date_sk AND d_qoy = 2 AND d_year = 1998
    AND substring(s_zip, 1, 2) = substring(v1.ca_zip, 1, 2)
GROUP BY s_store_name
ORDER BY s_store_name
LIMIT 100

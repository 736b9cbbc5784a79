-- q21: stock before and after a day
SELECT *
FROM (
    SELECT w_warehouse_name, i_item_id,
        sum(CASE WHEN d_date < cast('2000-06-11' AS date) THEN inv_quantity_on_hand ELSE 0 END)
            AS inv_before,
        sum(CASE WHEN d_date >= cast('2000-06-11' AS date) THEN inv_quantity_on_hand ELSE 0 END)
            AS inv_after
    FROM inventory, warehouse, item, date_dim
    WHERE i_current_price BETWEEN 0.99 AND 1.49 AND i_item_sk = inv_item_sk
        AND inv_warehouse_sk = w_warehouse_sk AND inv_date_sk = d_date_sk
        AND d_date BETWEEN cast('2000-06-11' AS date) - interval '30' day
            AND cast('2000-06-11' AS date) + interval '30' day
    GROUP BY w_warehouse_name, i_item_id
) AS x
WHERE CASE WHEN inv_before > 0 THEN inv_after * 1.000 / inv_before END
    BETWEEN 2.000 / 3.000 AND 3.000 / 2.000
ORDER BY w_warehouse_name, i_item_id
LIMIT 100

-- q41: products of manufacturers that make some kinds of clothes
SELECT DISTINCT i_product_name
FROM item i1
WHERE i_manufact_id BETWEEN 677 AND 677 + 100
    AND (
        SELECT count(*) AS item_cnt FROM item
        WHERE (i_manufact = i1.i_manufact
                AND ((i_category = 'Women' AND (i_color = 'powder' OR i_color = 'khaki')
                        AND (i_units = 'Ounce' OR i_units = 'Oz')
                        AND (i_size = 'medium' OR i_size = 'extra large'))
                    OR (i_category = 'Women' AND (i_color = 'brown' OR i_color = 'burnished')
                        AND (i_units = 'Bunch' OR i_units = 'Ton')
                        AND (i_size = 'N/A' OR i_size = 'small'))
                    OR (i_category = 'Men' AND (i_color = 'floral' OR i_color = 'medium')
                        AND (i_units = 'N/A' OR i_units = 'Dozen')
                        AND (i_size = 'petite' OR i_size = 'large'))
                    OR (i_category = 'Men' AND (i_color = 'light' OR i_color = 'slate')
                        AND (i_units = 'Box' OR i_units = 'Pound')
                        AND (i_size = 'medium' OR i_size = 'extra large'))))
            OR (i_manufact = i1.i_manufact
                AND ((i_category = 'Women' AND (i_color = 'purple' OR i_color = 'peach')
                        AND (i_units = 'Oz' OR i_units = 'Bunch')
                        AND (i_size = 'medium' OR i_size = 'extra large'))
                    OR (i_category = 'Women' AND (i_color = 'saddle' OR i_color = 'slate')
                        AND (i_units = 'Box' OR i_units = 'Pound')
                        AND (i_size = 'N/A' OR i_size = 'small'))
                    OR (i_category = 'Men' AND (i_color = 'brown' OR i_color = 'khaki')
                        AND (i_units = 'Oz' OR i_units = 'Ton')
                        AND (i_size = 'petite' OR i_size = 'small'))
                    OR (i_category = 'Men' AND (i_color = 'medium' OR i_color = 'powder')
                        AND (i_units = 'Ounce' OR i_units = 'Bunch')
                        AND (i_size = 'medium' OR i_size = 'extra large'))))
    ) > 0
ORDER BY i_product_name
LIMIT 100

-- q13: join with a bounded side input; it does not change, so that its time does not matter
SELECT b.auction, b.bidder, b.price, b.date_time, s.value
FROM bid b JOIN side_input s ON mod(b.auction, 10000) = s.key

-- q23: bids by people who sell
SELECT b.auction, b.bidder, b.price, b.date_time, p.name, p.city, p.state, a.id, a.item_name, a.category
FROM bid b JOIN person p ON p.id = b.bidder JOIN auction a ON a.seller = b.bidder

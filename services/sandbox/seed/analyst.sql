SELECT count() FROM shop.orders;
SELECT * FROM shop.orders ORDER BY ordered_at DESC LIMIT 10;
SELECT machine, max(value) FROM telemetry.measurements GROUP BY machine ORDER BY 2 DESC LIMIT 5;
SELECT uniqExact(customer_id), uniq(note) FROM shop.orders

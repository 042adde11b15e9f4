SELECT total FROM shop.orders;
SELECT * FROM shop.invoices;
SELECT toUInt8('twelve') FROM shop.customers;
SELECT groupArray(note) FROM shop.orders SETTINGS max_memory_usage = 1000000;
SELECT count() FROM shop.orders AS a CROSS JOIN shop.orders AS b WHERE a.amount > b.amount SETTINGS max_execution_time = 0.5, timeout_before_checking_execution_speed = 0;
SELECT count() FROM archive.orders;
INSERT INTO shop.customers VALUES (1, 'nobody', 'DE', now());
SELECT FROM shop.orders WHERE

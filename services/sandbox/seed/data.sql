INSERT INTO shop.customers
SELECT number, concat('customer ', toString(number)), ['DE', 'FR', 'US', 'JP', 'BR'][1 + cityHash64(number) % 5], now() - cityHash64(number, 1) % 90000000
FROM numbers(5000 + {variant:UInt32} * 5);
INSERT INTO shop.orders
SELECT number, cityHash64(number) % 5000, now() - intDiv(number * 7776000, 300000 + {variant:UInt32} * 200),
    ['open', 'paid', 'sent', 'returned'][1 + cityHash64(number, 2) % 4], (cityHash64(number, 3) % 50000) / 100, concat('note ', toString(cityHash64(number, 4) % 1000))
FROM numbers(300000 + {variant:UInt32} * 200);
INSERT INTO shop.orders
SELECT number + 10000000, cityHash64(number) % 5000, now() - cityHash64(number, 5) % 86400, 'open', (cityHash64(number, 3) % 50000) / 100, 'today'
FROM numbers(5000);
INSERT INTO telemetry.events
SELECT now64() - INTERVAL cityHash64(number) % 259200 SECOND, ['gateway', 'checkout', 'search', 'mail'][1 + cityHash64(number, 1) % 4],
    ['info', 'info', 'info', 'warning', 'error'][1 + cityHash64(number, 2) % 5], concat('request ', toString(number), ' handled'), map('zone', toString(number % 3))
FROM numbers(100000 + {variant:UInt32} * 100);
INSERT INTO telemetry.measurements
SELECT now() - intDiv(number * 604800, 400000), number % 40, ['cpu', 'memory', 'disk'][1 + number % 3], 50 + 40 * sin(number / 9000) + cityHash64(number, {variant:UInt32}) % 10
FROM numbers(400000);
INSERT INTO telemetry.measurements SELECT now(), number, 'cpu', 10 FROM numbers(40);
INSERT INTO telemetry.measurements SELECT now(), number, 'memory', 20 FROM numbers(40);
INSERT INTO telemetry.measurements SELECT now(), number, 'disk', 30 FROM numbers(40);
INSERT INTO telemetry.small_inserts SELECT now() - number, number FROM numbers(60);
INSERT INTO telemetry.small_inserts SELECT now() - number, number FROM numbers(30);
INSERT INTO telemetry.small_inserts SELECT now() - number, number FROM numbers(15);
INSERT INTO archive.orders SELECT id + 20000000, customer_id, ordered_at - INTERVAL 2 YEAR, 'sent', amount, note FROM shop.orders LIMIT 50000;
INSERT INTO archive.imports SELECT number, if(number % 100 = 7, 'unreadable', toString(number)), 0 FROM numbers(10000);
INSERT INTO archive.scratch SELECT number FROM numbers(1000)

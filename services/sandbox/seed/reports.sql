SELECT toDate(ordered_at) AS day, count(), sum(amount) FROM shop.orders GROUP BY day ORDER BY day;
SELECT country, sum(amount) AS revenue FROM shop.orders JOIN shop.customers ON customers.id = orders.customer_id GROUP BY country ORDER BY revenue DESC;
SELECT customer_id, uniq(id), quantile(0.95)(amount) FROM shop.orders WHERE status = 'paid' GROUP BY customer_id ORDER BY 2 DESC LIMIT 20;
SELECT service, level, count() FROM telemetry.events GROUP BY service, level ORDER BY 3 DESC;
SELECT toStartOfHour(at) AS hour, avg(value), max(value) FROM telemetry.measurements WHERE name = 'cpu' GROUP BY hour ORDER BY hour;
SELECT count(), sum(amount) FROM shop.orders WHERE note LIKE '%note 77%';
SELECT status, avg(amount), sum(sleepEachRow(0.4)) FROM (SELECT status, amount FROM shop.orders ORDER BY amount DESC LIMIT 5) GROUP BY status;
SELECT count() FROM telemetry.events AS a CROSS JOIN (SELECT at FROM telemetry.events LIMIT 100) AS b WHERE a.at > b.at

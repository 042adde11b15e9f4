OPTIMIZE TABLE telemetry.measurements FINAL;
OPTIMIZE TABLE shop.revenue_by_day FINAL;
ALTER TABLE shop.orders ADD COLUMN currency LowCardinality(String) DEFAULT 'EUR';
ALTER TABLE telemetry.events UPDATE level = 'notice' WHERE level = 'warning' AND service = 'mail' SETTINGS mutations_sync = 1;
ALTER TABLE archive.orders DELETE WHERE amount < 10 SETTINGS mutations_sync = 1;
DELETE FROM telemetry.measurements WHERE machine = 39;
ALTER TABLE archive.imports UPDATE amount = toUInt32(text) WHERE amount = 0 SETTINGS mutations_sync = 0;
ALTER TABLE telemetry.small_inserts DETACH PARTITION 59;
SYSTEM RELOAD DICTIONARY shop.customer_countries;
BACKUP TABLE shop.customers TO File('customers')

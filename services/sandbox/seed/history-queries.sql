INSERT INTO system.query_log
(
    hostname, type, event_date, event_time, event_time_microseconds, query_start_time, query_start_time_microseconds,
    query_duration_ms, read_rows, read_bytes, written_rows, written_bytes, result_rows, result_bytes, memory_usage,
    current_database, query, formatted_query, normalized_query_hash, query_kind, databases, tables, exception_code, exception,
    is_initial_query, user, query_id, initial_user, initial_query_id, initial_query_start_time,
    initial_query_start_time_microseconds, authenticated_user, interface, http_method, http_user_agent, log_comment, ProfileEvents
)
WITH
    [
        ('reports', 'Select', 'SELECT toDate(ordered_at) AS day, count(), sum(amount) FROM shop.orders GROUP BY day ORDER BY day', 'shop', 'shop.orders', 45, 300000, 0, ''),
        ('reports', 'Select', 'SELECT country, sum(amount) AS revenue FROM shop.orders JOIN shop.customers ON customers.id = orders.customer_id GROUP BY country', 'shop', 'shop.orders', 120, 305000, 0, ''),
        ('reports', 'Select', 'SELECT service, level, count() FROM telemetry.events GROUP BY service, level', 'telemetry', 'telemetry.events', 25, 100000, 0, ''),
        ('analyst', 'Select', 'SELECT * FROM shop.orders ORDER BY ordered_at DESC LIMIT 10', 'shop', 'shop.orders', 15, 8192, 0, ''),
        ('analyst', 'Select', 'SELECT machine, max(value) FROM telemetry.measurements GROUP BY machine', 'telemetry', 'telemetry.measurements', 20, 400000, 0, ''),
        ('ingest', 'Insert', 'INSERT INTO telemetry.events FORMAT JSONEachRow', 'telemetry', 'telemetry.events', 30, 0, 2000, ''),
        ('ingest', 'Insert', 'INSERT INTO telemetry.measurements FORMAT RowBinary', 'telemetry', 'telemetry.measurements', 18, 0, 5000, ''),
        ('ingest', 'Insert', 'INSERT INTO shop.orders FORMAT JSONEachRow', 'shop', 'shop.orders', 22, 0, 300, ''),
        ('reports', 'Select', 'SELECT count() FROM shop.orders AS a CROSS JOIN shop.customers AS b WHERE a.amount > b.id', 'shop', 'shop.orders', 4200, 1500000, 0, ''),
        ('analyst', 'Select', 'SELECT total FROM shop.orders', 'shop', 'shop.orders', 2, 0, 0, 'Code: 47. DB::Exception: Unknown expression identifier `total` in scope SELECT total FROM shop.orders. (UNKNOWN_IDENTIFIER)'),
        ('reports', 'Select', 'SELECT groupArray(note) FROM shop.orders', 'shop', 'shop.orders', 350, 120000, 0, 'Code: 241. DB::Exception: (query) memory limit exceeded. (MEMORY_LIMIT_EXCEEDED)')
    ] AS templates,
    -- Template numbers, each repeated according to its share in percent.
    [1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 9, 9, 10, 10, 11] AS shares
SELECT
    'seeded', kind, toDate(if(kind = 1, started, finished) AS ended), ended, toDateTime64(ended, 6), started, toDateTime64(started, 6),
    if(kind = 1, 0, duration), if(kind = 1, 0, rows), if(kind = 1, 0, rows * 24), if(kind = 1, 0, template.8), if(kind = 1, 0, template.8 * 60),
    if(kind = 2 AND template.2 = 'Select', 1 + hash % 200, 0), if(kind = 2 AND template.2 = 'Select', 64 + hash % 9000, 0), if(kind = 1, 0, 4000000 + rows * 12 + hash % 8000000),
    'default', template.3, '', normalizedQueryHash(template.3), template.2, [template.4], [template.5],
    if(kind > 2, toInt32OrZero(extract(template.9, 'Code: (\\d+)')), 0), if(kind > 2, template.9, ''),
    1, template.1, id, template.1, id, started, toDateTime64(started, 6), template.1, 2, 2, 'seeded', 'sandbox: seeded history',
    if(kind = 1, map(), mapFromArrays(
        ['Query', 'SelectedRows', 'SelectedBytes', 'RealTimeMicroseconds', 'UserTimeMicroseconds', 'SystemTimeMicroseconds', 'OSCPUVirtualTimeMicroseconds', 'OSReadBytes', 'NetworkSendBytes'],
        [1, rows, rows * 24, duration * 1000, duration * 700, duration * 90, duration * 790, rows * 3, 64 + hash % 9000]))
FROM
(
    SELECT
        cityHash64(number, {variant:UInt32}) AS hash,
        templates[shares[1 + hash % 100]] AS template,
        toUInt64(greatest(1, template.6 * exp((cityHash64(number, 11) % 2000) / 1000 - 1))) AS duration,
        toUInt64(template.7 * (0.8 + (hash % 400) / 1000)) AS rows,
        toDateTime(now() - 259200 + toUInt32(number * 16)) AS started,
        toDateTime(started + intDiv(duration, 1000)) AS finished,
        concat('seeded-', toString(generateUUIDv4(number))) AS id
    FROM numbers(16190)
    -- High load by day, low load by night; the amount differs between hosts.
    WHERE cityHash64(number, {variant:UInt32}, 7) % 1000 < (350 + {variant:UInt32} % 300) * (1.1 + sin((toHour(started) - 9) / 24 * 6.2831853))
)
ARRAY JOIN [1, multiIf(template.9 = '', 2, template.6 < 10, 3, 4)] AS kind
WHERE kind != 1 OR template.6 >= 10
SETTINGS allow_experimental_analyzer = 1

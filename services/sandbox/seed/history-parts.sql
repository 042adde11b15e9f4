INSERT INTO system.part_log
(
    hostname, query_id, event_type, merge_reason, merge_algorithm, event_date, event_time, event_time_microseconds, duration_ms,
    database, table, part_name, partition_id, partition, part_type, part_storage_type, disk_name, rows, size_in_bytes,
    merged_from, bytes_uncompressed, read_rows, read_bytes, peak_memory_usage, error, exception
)
SELECT
    'seeded', '', kind, if(kind = 2, 'RegularMerge', 'NotAMerge'), if(kind = 2, 'Horizontal', 'Undecided'),
    toDate(at), at, toDateTime64(at, 6), if(kind = 2, 40 + hash % 900, 3 + hash % 40),
    place.1, place.2, if(kind = 2, concat('all_', toString(number - 9), '_', toString(number), '_1'), concat('all_', toString(number), '_', toString(number), '_0')),
    'all', 'tuple()', 'Compact', 'Full', 'default', rows, rows * 18,
    if(kind = 2, arrayMap(step -> concat('all_', toString(number - step), '_', toString(number - step), '_0'), range(10)), []), rows * 60,
    if(kind = 2, rows, 0), if(kind = 2, rows * 60, 0), 4000000 + rows * 10, 0, ''
FROM
(
    SELECT
        number,
        cityHash64(number, {variant:UInt32}, 13) AS hash,
        [('telemetry', 'events'), ('telemetry', 'measurements'), ('shop', 'orders')][1 + hash % 3] AS place,
        if(number % 10 = 9, 2, 1) AS kind,
        if(kind = 2, 20000, 2000) + hash % 3000 AS rows,
        now() - 259200 + toUInt32(number * 60) AS at
    FROM numbers(10, 4300)
    WHERE number % 10 = 9 OR hash % 1000 < (500 + {variant:UInt32} % 200) * (1.1 + sin((toHour(at) - 9) / 24 * 6.2831853))
)

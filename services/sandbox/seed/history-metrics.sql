INSERT INTO system.metric_log
(
    hostname, event_date, event_time, event_time_microseconds,
    ProfileEvent_Query, ProfileEvent_SelectQuery, ProfileEvent_InsertQuery, ProfileEvent_FailedQuery,
    ProfileEvent_SelectedRows, ProfileEvent_SelectedBytes, ProfileEvent_InsertedRows, ProfileEvent_InsertedBytes,
    ProfileEvent_QueryTimeMicroseconds, ProfileEvent_OSCPUVirtualTimeMicroseconds, ProfileEvent_OSCPUWaitMicroseconds, ProfileEvent_OSIOWaitMicroseconds,
    ProfileEvent_OSReadBytes, ProfileEvent_OSWriteBytes, ProfileEvent_NetworkReceiveBytes, ProfileEvent_NetworkSendBytes,
    ProfileEvent_Merge, ProfileEvent_MergedRows, ProfileEvent_MergedUncompressedBytes,
    CurrentMetric_Query, CurrentMetric_Merge, CurrentMetric_PartMutation, CurrentMetric_MemoryTracking,
    CurrentMetric_HTTPConnection, CurrentMetric_TCPConnection, CurrentMetric_PartsActive, CurrentMetric_BackgroundMergesAndMutationsPoolTask
)
SELECT
    'seeded', toDate(at), at, toDateTime64(at, 6),
    toUInt64(load * 6 + hash % 3 AS queries), toUInt64(queries * 0.6), toUInt64(queries * 0.4), if(hash % 40 = 0, 1, 0),
    toUInt64(queries * 90000), toUInt64(queries * 2000000), toUInt64(queries * 1500), toUInt64(queries * 90000),
    toUInt64(queries * 60000), toUInt64(queries * 40000), toUInt64(queries * 1500), toUInt64(hash % 900),
    toUInt64(queries * 40000), toUInt64(queries * 100000), toUInt64(queries * 95000), toUInt64(queries * 8000),
    if(hash % 10 = 0, 1, 0), if(hash % 10 = 0, 20000, 0), if(hash % 10 = 0, 1200000, 0),
    toInt64(load * 2 + hash % 2), if(hash % 10 = 0, 1, 0), 0, toInt64(280000000 + load * 200000000 + hash % 30000000),
    toInt64(2 + load * 4), 0, 180 + hash % 20, if(hash % 10 = 0, 1, 0)
FROM
(
    SELECT
        cityHash64(number, {variant:UInt32}, 17) AS hash,
        now() - 259200 + toUInt32(number * 60) AS at,
        (0.5 + {variant:UInt32} % 300 / 600) * (1.1 + sin((toHour(at) + toMinute(at) / 60 - 9) / 24 * 6.2831853)) AS load
    FROM numbers(4318)
);
INSERT INTO system.asynchronous_metric_log (hostname, event_date, event_time, metric, value)
WITH
    (SELECT groupArray((metric, value)) FROM system.asynchronous_metrics) AS present,
    (0.5 + {variant:UInt32} % 300 / 600) * (1.1 + sin((toHour(at) + toMinute(at) / 60 - 9) / 24 * 6.2831853)) AS load
SELECT
    'seeded', toDate(at), at, pair.1 AS metric,
    multiIf(
        metric LIKE 'LoadAverage%', load * 1.4 + hash % 100 / 400,
        metric IN ('OSUserTimeNormalized', 'OSSystemTimeNormalized'), least(0.9, load * 0.25 + hash % 100 / 1500),
        metric IN ('OSUserTime', 'OSSystemTime'), load * 0.5 + hash % 100 / 800,
        metric IN ('OSIdleTimeNormalized'), greatest(0.05, 1 - load * 0.6),
        metric LIKE 'OS%Time%', hash % 100 / 5000,
        metric = 'MemoryResident', 280000000 + load * 200000000 + hash % 20000000,
        metric = 'OSMemoryAvailable', pair.2 * (0.95 - load * 0.08),
        metric LIKE 'DiskUsed%' OR metric LIKE 'Filesystem%UsedBytes', pair.2 * (0.96 + 0.04 * number / 4318),
        metric LIKE 'Network%Bytes%' OR metric LIKE 'Block%Bytes%', load * 400000 + hash % 90000,
        metric LIKE 'Network%Packets%' OR metric LIKE 'Block%Ops%', load * 300 + hash % 60,
        metric LIKE 'Total%OfMergeTreeTables', 500000 * (0.9 + 0.1 * number / 4318),
        metric = 'Uptime', number * 60,
        pair.2)
FROM
(
    SELECT number, cityHash64(number, {variant:UInt32}, 19) AS hash, now() - 259200 + toUInt32(number * 60) AS at
    FROM numbers(4318)
)
ARRAY JOIN present AS pair;
INSERT INTO system.error_log (hostname, event_date, event_time, code, error, value, remote)
SELECT 'seeded', toDate(at), at, pair.1, pair.2, 1 + hash % 3, 0
FROM
(
    SELECT number, cityHash64(number, {variant:UInt32}, 23) AS hash, now() - 259200 + toUInt32(number * 900) AS at,
        [(47, 'UNKNOWN_IDENTIFIER'), (60, 'UNKNOWN_TABLE'), (241, 'MEMORY_LIMIT_EXCEEDED'), (159, 'TIMEOUT_EXCEEDED')][1 + hash % 4] AS pair
    FROM numbers(287) WHERE hash % 3 = 0
)

SELECT 'Uptime' AS metric, toFloat64(uptime()) AS value, 'Seconds since the engine started.' AS description
UNION ALL SELECT 'NumberOfDatabases', count(), 'Databases of the host.' FROM system.databases
UNION ALL SELECT 'NumberOfTables', countIf(database NOT IN ('system', 'INFORMATION_SCHEMA', 'information_schema')), 'Tables of the host, without those of the system database.' FROM system.tables
UNION ALL SELECT 'NumberOfTablesSystem', countIf(database = 'system'), 'Tables of the system database.' FROM system.tables
UNION ALL SELECT 'TotalPartsOfMergeTreeTables', countIf(database != 'system'), 'Active parts of all MergeTree tables, without those of the system database.' FROM system.parts WHERE active
UNION ALL SELECT 'TotalRowsOfMergeTreeTables', sumIf(rows, database != 'system'), 'Rows of all MergeTree tables, without those of the system database.' FROM system.parts WHERE active
UNION ALL SELECT 'TotalBytesOfMergeTreeTables', sumIf(bytes_on_disk, database != 'system'), 'Bytes on disk of all MergeTree tables, without those of the system database.' FROM system.parts WHERE active
UNION ALL SELECT 'TotalPartsOfMergeTreeTablesSystem', countIf(database = 'system'), 'Active parts of the MergeTree tables of the system database.' FROM system.parts WHERE active
UNION ALL SELECT 'TotalRowsOfMergeTreeTablesSystem', sumIf(rows, database = 'system'), 'Rows of the MergeTree tables of the system database.' FROM system.parts WHERE active
UNION ALL SELECT 'TotalBytesOfMergeTreeTablesSystem', sumIf(bytes_on_disk, database = 'system'), 'Bytes on disk of the MergeTree tables of the system database.' FROM system.parts WHERE active
UNION ALL SELECT 'TotalPrimaryKeyBytesInMemory', sum(primary_key_bytes_in_memory), 'Bytes of primary keys held in memory.' FROM system.parts WHERE active
UNION ALL SELECT 'MaxPartCountForPartition', max(parts), 'Maximum number of active parts in one partition.' FROM (SELECT count() AS parts FROM system.parts WHERE active GROUP BY database, table, partition_id)
UNION ALL SELECT 'NumberOfDetachedParts', count(), 'Detached parts.' FROM system.detached_parts
UNION ALL SELECT 'DiskTotal_' || name, total_space, 'Size of the disk, in bytes.' FROM system.disks
UNION ALL SELECT 'DiskAvailable_' || name, free_space, 'Bytes of the disk that can still be written.' FROM system.disks
UNION ALL SELECT 'DiskUnreserved_' || name, unreserved_space, 'Available bytes that no merge has reserved.' FROM system.disks
UNION ALL SELECT 'DiskUsed_' || name, total_space - free_space, 'Bytes of the disk in use.' FROM system.disks
FORMAT JSONEachRow

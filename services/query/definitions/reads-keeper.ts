/** Tables whose rows the server fetches from Keeper when they are read. Logs of what it did with Keeper are its own. */
const keeperTables = /\bsystem\.(?:zookeeper(?:_info|_watches|_connection)?|distributed_ddl_queue)\b/
/** Columns of `system.replicas` that the server asks Keeper for, when they are among those that are read. */
const keeperColumns = /\b(?:total_replicas|active_replicas|replica_is_active|log_max_index|zookeeper_exception)\b/

/** Whether a statement of a definition waits for Keeper: its time is short then, since the host heeds no limit while it waits. */
export const readsKeeper = (sql: string): boolean =>
  keeperTables.test(sql) || (sql.includes('system.replicas') && keeperColumns.test(sql))

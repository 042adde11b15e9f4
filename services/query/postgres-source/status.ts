import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { PostgresServer, type PostgresStatus } from '#proto/postgres-source.ts'
import { PostgresWalReceiver, PostgresSlot, PostgresStandby, PostgresSubscription } from '#proto/postgres-statistics.ts'
import { readFailureReason } from './failure.ts'
import { buildEpochMsSql, findMissingPrivilege, buildElapsedMsSql } from './sessions.ts'
import type { PostgresSource } from './source.ts'

const Server = PostgresServer.omit({ limited: true })

const serverSql = `SELECT current_setting('server_version') AS version, current_database() AS database,
  ${buildEpochMsSql('pg_postmaster_start_time()')} AS "startedMs", pg_is_in_recovery() AS "isStandby"`

const notConfigured: PostgresStatus = {
  status: 'not-configured',
  message: 'Set SVC_POSTGRES_SOURCE_URL to monitor a PostgreSQL server.',
  server: null,
}

/** Returns the status of the source. A failed request is a status, not an error. */
export const readSourceStatus = async (source: PostgresSource): Promise<PostgresStatus> => {
  if (!source.isOffered) return notConfigured
  try {
    const server = await source.read(async (runQuery) => {
      const [facts] = z.tuple([Server]).parse(await runQuery(Server, serverSql))
      return { ...facts, limited: await findMissingPrivilege(runQuery) }
    })
    return { status: 'connected', message: 'The PostgreSQL source is reachable.', server }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return {
      status: readFailureReason(error) === 'auth' ? 'auth' : 'unreachable',
      message: sentence(error.message),
      server: null,
    }
  }
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

/** SQL for the end of the WAL that the server has written or received. */
const now = 'CASE WHEN pg_is_in_recovery() THEN pg_last_wal_receive_lsn() ELSE pg_current_wal_lsn() END'
const buildLagSql = (position: string): string => `pg_wal_lsn_diff(${now}, ${position})::float8`

const standbysSql = `SELECT pid, usename AS "user", nullif(application_name, '') AS application, host(client_addr) AS address, state,
  sync_state AS "syncState", ${buildLagSql('sent_lsn')} AS "sentLagBytes", ${buildLagSql('flush_lsn')} AS "flushLagBytes",
  ${buildLagSql('replay_lsn')} AS "replayLagBytes", round(extract(epoch FROM replay_lag) * 1000)::float8 AS "replayLagMs"
FROM pg_stat_replication
ORDER BY "replayLagBytes" DESC NULLS LAST, pid
LIMIT 500`

const slotsSql = `SELECT slot_name AS name, slot_type AS type, plugin, database, temporary AS "isTemporary", active AS "isActive",
  ${buildLagSql('restart_lsn')} AS "retainedBytes", ${buildLagSql('confirmed_flush_lsn')} AS "unconfirmedBytes", wal_status AS "walStatus",
  safe_wal_size::float8 AS "safeBytes"
FROM pg_replication_slots
ORDER BY "retainedBytes" DESC NULLS LAST, name
LIMIT 500`

/** Does not select `conninfo`, which may contain a password. */
const receiverSql = `SELECT r.status, r.slot_name AS slot,
  pg_wal_lsn_diff(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn())::float8 AS "replayLagBytes",
  ${buildElapsedMsSql('pg_last_xact_replay_timestamp()')} AS "lastReplayedAgoMs"
FROM (SELECT 1) AS one LEFT JOIN pg_stat_wal_receiver AS r ON true
WHERE pg_is_in_recovery()`

const subscriptionsSql = `SELECT subname AS name, bool_or(pid IS NOT NULL) AS "isRunning",
  ${buildEpochMsSql('max(last_msg_receipt_time)')} AS "lastMessageMs", ${buildEpochMsSql('max(latest_end_time)')} AS "lastReportedMs"
FROM pg_stat_subscription
GROUP BY subname
ORDER BY subname
LIMIT 500`

/** Reads standbys, slots, subscriptions and the WAL receiver of the server. */
export const readReplicationState = (source: PostgresSource) =>
  source.read(async (runQuery) => {
    const [{ isStandby }] = z.tuple([Role]).parse(await runQuery(Role, 'SELECT pg_is_in_recovery() AS "isStandby"'))
    const standbys = await runQuery(PostgresStandby, standbysSql)
    const slots = await runQuery(PostgresSlot, slotsSql)
    const [receiver = null] = await runQuery(PostgresWalReceiver, receiverSql)
    const subscriptions = await runQuery(PostgresSubscription, subscriptionsSql)
    return {
      replication: { isStandby, standbys, slots, receiver, subscriptions },
      limited: await findMissingPrivilege(runQuery),
    }
  })

const Role = z.object({ isStandby: z.boolean() })

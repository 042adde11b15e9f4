import { setTimeout as wait } from 'node:timers/promises'
import type { Client } from '@libsql/client'
import { ServiceError } from '#proto/errors.ts'
import { isReadOnlyError } from './failure.ts'

/** How long to retry while another process writes to the file. Waiting inside SQLite would block this process. */
const maxRetryMs = 2_000
const busyPauseMs = 10

/**
 * Runs `work`, and retries it for 2 s while another process locks the database; then throws `busy`. A rejected
 * statement stays open on its connection and would block the end of the next transaction, so the client reconnects
 * before each retry.
 */
export const retryWhileLocked = async <T>(client: Client, work: () => Promise<T>): Promise<T> => {
  const until = performance.now() + maxRetryMs
  for (;;) {
    try {
      return await work()
    } catch (error) {
      // The file may have become writable again, which only a new connection detects.
      if (isReadOnlyError(error)) client.reconnect()
      if (!isBusy(error)) throw error
      if (performance.now() > until) {
        throw new ServiceError('busy', 'the state database is locked by another process; try again', { cause: error })
      }
      client.reconnect()
      await wait(busyPauseMs)
    }
  }
}

/** Returns whether another process locked the file, or a reconnect of a concurrent call closed the connection. */
const isBusy = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'SQLITE_BUSY' || error.code === 'CLIENT_CLOSED')

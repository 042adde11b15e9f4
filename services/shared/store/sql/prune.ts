import { setTimeout as wait } from 'node:timers/promises'
import type { Sql } from './context.ts'

const everyMs = 60_000
const rowsLimit = 5_000

/** Removes expired values once a minute; reading passes over them already, so an outage in between does no harm. */
export const startPruning = (context: Sql): AsyncDisposable => {
  const stop = new AbortController()
  const running = keepPruning(context, stop.signal)
  return {
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running
    },
  }
}

const keepPruning = async (context: Sql, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted) {
    await wait(everyMs, undefined, { signal, ref: false }).catch(() => {})
    if (!signal.aborted) await context.database.run(() => prune(context)).catch(() => {})
  }
}

/** Removes some of the expired values; the next minute takes the next. */
export const prune = async ({ tables, now }: Sql): Promise<void> => {
  const expired = tables.selectFrom('watchhouse_state').select('key').where('expires_at_ms', '<=', now).limit(rowsLimit)
  await tables.deleteFrom('watchhouse_state').where('key', 'in', expired).where('expires_at_ms', '<=', now).execute()
}

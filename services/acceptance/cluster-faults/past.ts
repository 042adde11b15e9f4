import { findFaketimeLibrary } from '../../testing/servers/faketime.ts'
import { installServers } from '../../testing/servers/install.ts'
import type { ClusterServer } from './cluster.ts'

/**
 * Runs a function while the server has an earlier time, such as `-3h`. The server restarts before and after it.
 * Afterwards its logs contain rows of the past.
 */
export const runInPast = async (server: ClusterServer, offset: string, run: () => Promise<void>): Promise<void> => {
  installServers([{ title: 'libfaketime', debian: 'faketime', isThere: () => findFaketimeLibrary() !== undefined }])
  const library = findFaketimeLibrary()
  if (library === undefined) throw new Error('libfaketime not found; install the package faketime')
  try {
    await server.restart({
      LD_PRELOAD: library,
      FAKETIME: offset,
      // As on a real machine, the monotonic clock must not follow the wall clock.
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
    })
    await run()
    await server.run('SYSTEM FLUSH LOGS')
  } finally {
    await server.restart()
  }
}

/** Deletes all logs, because rows of the past would change rules that compare with history. */
export const truncateLogs = async (server: ClusterServer): Promise<void> => {
  const logs = await server.query(
    `SELECT name FROM system.tables WHERE database = 'system' AND engine = 'MergeTree' AND name LIKE '%_log'`,
  )
  for (const { name } of logs) await server.run(`TRUNCATE TABLE system.${String(name)}`)
}

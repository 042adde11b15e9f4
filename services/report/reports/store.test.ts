import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, describe } from 'vitest'
import { describeWith, startPostgres } from '../../testing/describe-with.ts'
import { openReportStore } from './store.ts'
import { testReportStore } from './store.suite.ts'

const opened = new AsyncDisposableStack()
afterAll(() => opened.disposeAsync())

const openWith = async (env: Record<string, string>) =>
  opened.use(await openReportStore(env, pino({ level: 'silent' }))).reports

describe('reports in memory', () => testReportStore(() => openWith({})))

describe('reports in SQLite', () => {
  testReportStore(async () => {
    const directory = await mkdtemp(join(tmpdir(), 'watchhouse-reports-'))
    opened.defer(() => rm(directory, { recursive: true }))
    return openWith({ SVC_STATE_DB_URL: `file:${join(directory, 'state.db')}`, SVC_STATE_DB_TABLE_PREFIX: 'mine_' })
  })
})

describeWith(['postgres'], 'reports in PostgreSQL', () => {
  testReportStore(async () => openWith({ DATABASE_URL: opened.use(await startPostgres()).url }))
})

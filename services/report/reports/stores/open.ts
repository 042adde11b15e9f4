import type { Logger } from 'pino'
import type { Environment } from '#shared/config/environment.ts'
import { openStateDatabase } from '#shared/store/sql/open-state-database.ts'
import { memoryReports } from './memory.ts'
import type { ReportStore } from './store.ts'

/** A store of reports; disposing it closes what was opened for it. */
export interface OpenReports extends AsyncDisposable {
  reports: ReportStore
  /** Whether they outlive this process. */
  lasting: boolean
}

/** Reports in the state database where there is one, else in memory. */
export const openReports = async (env: Environment, log: Logger): Promise<OpenReports> => {
  await using opened = new AsyncDisposableStack()
  const database = await openStateDatabase(env, log)
  if (!database) return { reports: memoryReports(), lasting: false, [Symbol.asyncDispose]: async () => undefined }
  opened.use(database)
  const { sqlReports } = await import('./sql.ts')
  const reports = await sqlReports(database)
  const held = opened.move()
  return { reports, lasting: true, [Symbol.asyncDispose]: () => held.disposeAsync() }
}

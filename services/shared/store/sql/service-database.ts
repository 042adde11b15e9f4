import { reportProblem } from '../../lifecycle/readiness.ts'
import type { ServiceContext } from '../../lifecycle/service.ts'
import type { Database } from './connection.ts'
import { openStateDatabase } from './state-database.ts'

/**
 * Opens the state database of a service until `scope` is disposed; returns undefined if none is configured. `/readyz`
 * and the metrics report its problems as `<service> database`.
 */
export const openServiceDatabase = async (
  service: string,
  { env, telemetry, readiness }: Pick<ServiceContext, 'env' | 'telemetry' | 'readiness'>,
  scope: AsyncDisposableStack,
): Promise<Database | undefined> => {
  const database = await openStateDatabase(env, telemetry.log)
  if (!database) return undefined
  reportProblem(readiness, `${service} database`, () => database.problem)
  return scope.use(database)
}

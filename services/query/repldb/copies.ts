import type { Call } from '#proto/call.ts'
import type { ReplicationService } from './client.ts'
import { endpoints } from './endpoints.ts'
import { overviewOf } from './overview.ts'

/** How far a mirror is that copies what is there before it follows changes. */
interface Copy {
  mirror: string
  /** Parts and rows, which only grow while it goes on. */
  done: number
}

const mostCopies = 50

/** Every mirror that is copying. */
export const copiesOf = async (service: ReplicationService, call: Call, nowMs: number): Promise<Copy[]> => {
  const { mirrors } = await overviewOf(service, call, nowMs)
  const copying = mirrors.filter(({ state }) => state === 'snapshot').slice(0, mostCopies)
  return Promise.all(
    copying.map(async ({ name }) => {
      const { tableSummaries } = await service.ask(endpoints.initialLoad, { name }, call)
      const done = tableSummaries.reduce((sum, table) => sum + table.numPartitionsCompleted + table.numRowsSynced, 0)
      return { mirror: name, done }
    }),
  )
}

/** Since when each copy is where it is. */
type Progress = Readonly<Record<string, { done: number; sinceMs: number }>>

/** What is known of copies now, by what was known before; those that have ended are forgotten. */
export const progressOf = (copies: readonly Copy[], before: Progress, nowMs: number): Progress =>
  Object.fromEntries(
    copies.map(({ mirror, done }) => {
      const known = before[mirror]
      return [mirror, known?.done === done ? known : { done, sinceMs: nowMs }]
    }),
  )

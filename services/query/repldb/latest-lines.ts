import type { z } from 'zod'
import type { Call } from '#proto/call.ts'
import type { RepldbLogs } from '#proto/repldb-api.ts'
import type { ReplicationService } from './client.ts'
import { endpoints } from './endpoints.ts'

/** Lines that are looked at for patterns and counts. */
export const mostLines = 500
const hourMs = 3_600_000

type Lines = z.output<typeof RepldbLogs>

/** The latest lines of one mirror, or of all. */
export const latestLines = (
  service: ReplicationService,
  { mirror = '', level }: { mirror?: string | undefined; level: string },
  call: Call,
): Promise<Lines> => {
  const body = { flowJobName: mirror, level, page: 0, numPerPage: mostLines, beforeId: -1, afterId: -1 }
  return service.ask(endpoints.logs, { body }, call)
}

/** Errors within the last hour, as far as the latest lines tell. */
export const latestErrors = async (
  service: ReplicationService,
  call: Call,
  nowMs: number,
): Promise<Lines['errors']> => {
  const { errors } = await latestLines(service, { level: 'error' }, call)
  return errors.filter(({ errorTimestamp }) => nowMs - errorTimestamp < hourMs)
}

/** How many there are of each mirror. */
export const errorsByMirror = async (
  service: ReplicationService,
  call: Call,
  nowMs: number,
): Promise<ReadonlyMap<string, number>> => {
  const lines = await latestErrors(service, call, nowMs)
  return new Map([...Map.groupBy(lines, ({ flowName }) => flowName)].map(([name, those]) => [name, those.length]))
}

import { ServiceError } from '#proto/errors.ts'
import type { Asking } from './asking.ts'

/** A statement to advise on. */
export interface AskedStatement {
  query: string
  database: string | undefined
  /** The query in the log that it was found by. */
  queryId: string | undefined
}

interface Asked {
  query?: string | undefined
  queryId?: string | undefined
  database?: string | undefined
}

/** The statement as it was given, or as the log of the host has it. */
export const askedStatement = async (
  { query, call, hostKey }: Asking,
  { query: given, queryId, database }: Asked,
): Promise<AskedStatement> => {
  if (given !== undefined) return { query: given, database, queryId: undefined }
  if (queryId === undefined) throw refused('query', 'advice needs either a statement or a queryId')
  const { detail, unavailable } = await query.queryDetail({ hostKey, queryId }, call)
  if (!detail) throw refused('queryId', `the statement of a queryId is not known: ${unavailable?.message ?? 'no log'}`)
  const { kind, query: text, currentDatabase } = detail.summary
  if (kind !== 'Select') throw refused('queryId', `there is advice for SELECT alone, and this query is of kind ${kind}`)
  return { query: text, database: currentDatabase || undefined, queryId }
}

const refused = (parameter: string, sentence: string): ServiceError =>
  new ServiceError('invalid', sentence, { details: { parameter } })

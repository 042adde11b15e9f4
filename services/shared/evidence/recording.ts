import { hash } from 'node:crypto'
import type { ServiceClient } from '#proto/contract.ts'
import type { Evidence } from '#proto/evidence.ts'
import type { query } from '#proto/query.ts'
import type { Clock } from '../time/clock.ts'

/** A client of `query` with the statements that it has recorded. */
export interface RecordingClient {
  query: ServiceClient<typeof query>
  /** Evidence of the successful statements, in the order of their responses. */
  evidence: readonly Evidence[]
}

/**
 * Returns a client of `query` that records its statements, so that claims about hosts can be verified by running the
 * statements again.
 */
export const createRecordingClient = (client: ServiceClient<typeof query>, clock: Clock): RecordingClient => {
  const evidence: Evidence[] = []
  return {
    evidence,
    query: {
      ...client,
      runQuery: async (input, call) => {
        const answer = await client.runQuery(input, call)
        const { columns, rows } = answer
        evidence.push({
          hostKey: input.hostKey,
          statement: input.query,
          parameters: input.parameters ?? {},
          atMs: clock.now(),
          rows: rows.length,
          rowHash: hashJson({ columns, rows }),
        })
        return answer
      },
      toolRows: async (input, call) => {
        const answer = await client.toolRows(input, call)
        evidence.push(answer.evidence)
        return answer
      },
    },
  }
}

/** Returns the SHA-256 hash of a value as JSON, in hexadecimal digits. */
export const hashJson = (value: unknown): string => hash('sha256', JSON.stringify(value))

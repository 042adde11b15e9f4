import { hash } from 'node:crypto'
import type { Client } from '#proto/contract.ts'
import type { Evidence } from '#proto/evidence.ts'
import type { query } from '#proto/query.ts'
import type { Clock } from '../time/clock.ts'

/** A client that keeps a record of every statement it had answered. */
export interface Recording {
  query: Client<typeof query>
  /** What was asked so far, in the order of the answers. */
  evidence: readonly Evidence[]
}

/** Puts on record what is asked through a client of `query`, so that what is claimed of hosts can be asked again and compared. */
export const recording = (client: Client<typeof query>, clock: Clock): Recording => {
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
          rowHash: hashOf({ columns, rows }),
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

/** SHA-256 of a value as JSON, in hex. */
export const hashOf = (value: unknown): string => hash('sha256', JSON.stringify(value))

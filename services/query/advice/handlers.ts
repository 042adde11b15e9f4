import type { advisingMethods } from '#proto/advising.ts'
import type { Call } from '#proto/call.ts'
import type { Handlers, Service } from '#proto/contract.ts'
import type { Parts } from '../handlers/parts.ts'
import { countGroups } from './count-groups.ts'
import { countMatches } from './count-matches.ts'
import { statementReads } from './statement-reads.ts'
import { tryIndex } from './try-index.ts'

/** What advice is made of: analyses, counts, and indexes that exist for a session only. */
export const advisingHandlers = (parts: Parts): Handlers<Service<typeof advisingMethods>> => {
  const asking = (hostKey: string, call: Call) => ({ parts, host: parts.hosts.get(hostKey), call })
  return {
    statementReads: ({ hostKey, ...asked }, call) => statementReads(asking(hostKey, call), asked),
    tryIndex: ({ hostKey, ...asked }, call) => tryIndex(asking(hostKey, call), asked),
    countMatches: ({ hostKey, ...asked }, call) => countMatches(asking(hostKey, call), asked),
    countGroups: ({ hostKey, ...asked }, call) => countGroups(asking(hostKey, call), asked),
  }
}

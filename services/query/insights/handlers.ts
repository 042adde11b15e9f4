import type { Handlers, Service } from '#proto/contract.ts'
import type { insightRowMethods } from '#proto/insight-rows.ts'
import type { Parts } from '../handlers/parts.ts'
import type { WithReplicationService } from '../repldb/handlers.ts'
import { insightRows } from './insight-rows.ts'
import { keepFindings } from './keep-findings.ts'
import { pruneFindings } from './prune-findings.ts'
import { storedFindings } from './stored-findings.ts'

type InsightHandlers = Handlers<Service<typeof insightRowMethods>>

/** What insights are made of, and the table that hosts keep them in. */
export const insightHandlers = (parts: Parts & WithReplicationService): InsightHandlers => ({
  insightRows: insightRows(parts),
  storedFindings: storedFindings(parts),
  keepFindings: keepFindings(parts),
  pruneFindings: pruneFindings(parts),
})

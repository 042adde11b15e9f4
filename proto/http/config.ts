import { z } from 'zod'
import { Catalogue } from '../catalogue.ts'
import { Host, HostState } from '../query.ts'
import { answer } from './answer.ts'

/** A host with its last known state, at most 10 seconds old. */
export const HostSummary = Host.omit({ key: true }).extend({
  status: HostState.shape.status,
  reason: HostState.shape.reason,
  version: HostState.shape.version,
})
export type HostSummary = z.infer<typeof HostSummary>

/**
 * `GET /api/v1/config`: what a client needs before its first page, in one answer: the hosts with their last known state
 * and every definition in force. Asks no host, so it answers when all of them are down.
 */
export const ConfigAnswer = answer(z.object({ hosts: z.array(HostSummary), catalogue: Catalogue }), z.object({}))

import type { z } from 'zod'
import type { ActionOutcome } from '#proto/actions.ts'
import { hostOnRecord } from '#proto/audit.ts'
import type { Call } from '#proto/call.ts'
import type { Host } from '#proto/host.ts'
import { ActionAnswer, ActionRequest } from '#proto/http/actions.ts'
import { HostQuery } from '#proto/http/parameters.ts'
import type { Gateway } from '../gateway.ts'
import { success } from '../response/envelope.ts'
import { postRoute } from '../http-route.ts'

export const actions = postRoute({
  path: '/api/v1/actions',
  doc: 'Ends a query, stops a mutation or merges the parts of a table, once that is on record',
  feature: 'ACTIONS',
  access: 'write',
  limit: 'data',
  query: HostQuery,
  body: ActionRequest,
  answer: ActionAnswer,
  handle: async ({ query: { hostId }, body, call, requestId }, gateway) => {
    const host = await gateway.hosts.find(hostId)
    const outcome = await carryOut(gateway, host, body, { call, requestId })
    return { ...success(outcome, { host: host.name }), message: sentences[outcome.state] }
  },
})

const sentences: Readonly<Record<ActionOutcome['state'], string>> = {
  done: 'the host says that it is done',
  running: 'the host has begun and goes on by itself',
  ignored: 'the host had nothing left to do',
}

type Action = z.output<typeof ActionRequest>

/** Whose action it is, and where it came from besides the request. */
interface Wish {
  call: Call
  requestId: string
  /** Named in the record beside what the action is done to. */
  origin?: Readonly<Record<string, string>>
}

/** Does to a host what its caller wants, once that is on record. */
export const carryOut = async (
  gateway: Gateway,
  host: Host,
  asked: Action,
  { call, requestId, origin }: Wish,
): Promise<ActionOutcome> => {
  const target = { ...namesOf(asked.params), ...origin }
  const deed = { action: kebab(asked.action), host: hostOnRecord(host), target }
  return gateway.audit.of(deed, { call, requestId }, () => act(gateway, host.key, asked, call))
}

const act = ({ query }: Gateway, hostKey: string, { action, params }: Action, call: Call): Promise<ActionOutcome> => {
  if (action === 'killQuery') return query.killQuery({ hostKey, ...params }, call)
  if (action === 'killMutation') return query.killMutation({ hostKey, ...params }, call)
  return query.optimizeTable({ hostKey, ...params }, call)
}

/** As the audit names all it keeps: `kill-query`. */
const kebab = (action: string): string => action.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** What it was done to, as the audit keeps it. */
const namesOf = (params: object): Record<string, string> =>
  Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)]))

import type { z } from 'zod'
import type { ActionOutcome } from '#proto/actions.ts'
import type { Call } from '#proto/call.ts'
import { ActionAnswer, ActionRequest } from '#proto/http/actions.ts'
import { HostQuery } from '#proto/http/parameters.ts'
import { hostOnRecord } from '../audit/host-on-record.ts'
import type { Gateway } from '../gateway.ts'
import { postRoute } from '../route.ts'
import { success } from '../success.ts'

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
    const deed = { action: kebab(body.action), host: hostOnRecord(host), target: namesOf(body.params) }
    const outcome = await gateway.audit.of(deed, { call, requestId }, () => act(gateway, host.key, body, call))
    return { ...success(outcome, { host: host.name }), message: sentences[outcome.state] }
  },
})

const act = (
  { query }: Gateway,
  hostKey: string,
  { action, params }: z.output<typeof ActionRequest>,
  call: Call,
): Promise<ActionOutcome> => {
  if (action === 'killQuery') return query.killQuery({ hostKey, ...params }, call)
  if (action === 'killMutation') return query.killMutation({ hostKey, ...params }, call)
  return query.optimizeTable({ hostKey, ...params }, call)
}

const sentences: Readonly<Record<ActionOutcome['state'], string>> = {
  done: 'the host says that it is done',
  running: 'the host has begun and goes on by itself',
  ignored: 'the host had nothing left to do',
}

/** As the audit names all it keeps: `kill-query`. */
const kebab = (action: string): string => action.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** What it was done to, as the audit keeps it. */
const namesOf = (params: object): Record<string, string> =>
  Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)]))

import type { ActionOutcome } from '#proto/actions.ts'
import { ActionAnswer, ActionRequest } from '#proto/http/actions.ts'
import { HostQuery } from '#proto/http/parameters.ts'
import { carryOut } from '../actions/carry-out.ts'
import { postRoute } from '../route.ts'
import { success } from '../response/success.ts'

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

import type { z } from 'zod'
import type { ActionOutcome } from '#proto/actions.ts'
import { hostOnRecord } from '#proto/audit.ts'
import type { Call } from '#proto/call.ts'
import type { ActionRequest } from '#proto/http/actions.ts'
import type { Host } from '#proto/host.ts'
import type { Gateway } from '../gateway.ts'

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

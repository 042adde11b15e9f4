import {
  ConnectionSessionAnswer,
  ConnectionSessionRequest,
  ConnectionTestAnswer,
  ConnectionTestRequest,
  connectionSessionHeader,
} from '#proto/http/connections.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { encryptTarget } from '../connections/encrypt-target.ts'
import { connectionKey, newConnectionId, ownerOf } from '../connections/owner.ts'
import { sessionToken } from '../connections/session-token.ts'
import { requireWorking } from '../connections/tested.ts'
import { postRoute } from '../route.ts'
import { success } from '../response/success.ts'

const lifetimeSeconds = 15 * 60
const longestName = 100
const common = { feature: null, access: 'anonymous', dials: true, query: noQuery } as const

export const connectionTest = postRoute({
  ...common,
  path: '/api/v1/browser-connections/test',
  doc: 'Dials a ClickHouse host that the caller names and tells its version, or why there is none',
  limit: 'browser-connection-test',
  body: ConnectionTestRequest,
  answer: ConnectionTestAnswer,
  handle: async ({ body: target, call }, gateway) => {
    const encryptedTarget = await encryptTarget(gateway, target, call)
    return success(await gateway.query.testConnection({ encryptedTarget }, call), {})
  },
})

export const connectionSession = postRoute({
  ...common,
  path: '/api/v1/browser-connections/sessions',
  doc: `Opens a session of fifteen minutes on a ClickHouse host that the caller names, which is host 0 and the only one for requests with its token in the header ${connectionSessionHeader}`,
  limit: 'browser-connection-session',
  body: ConnectionSessionRequest,
  answer: ConnectionSessionAnswer,
  handle: async ({ body: { name: given, ...target }, call }, gateway) => {
    const encryptedTarget = await encryptTarget(gateway, target, call)
    const { version } = await requireWorking(gateway, encryptedTarget, call)
    const name = given ?? new URL(target.url).host.slice(0, longestName)
    const id = newConnectionId()
    const key = connectionKey(ownerOf(call.identity), id)
    const expiresAt = new Date(gateway.clock.now() + lifetimeSeconds * 1_000).toISOString()
    const asked = { key, name, encryptedTarget, lifetimeMs: lifetimeSeconds * 1_000 }
    const token = sessionToken(id, { name, ...(await gateway.query.sealConnection(asked, call)) })
    return success({ token, header: connectionSessionHeader, hostId: 0, name, version, expiresAt, lifetimeSeconds }, {})
  },
})

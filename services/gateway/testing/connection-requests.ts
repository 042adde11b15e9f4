import { UserConnectionAnswer } from '#proto/http/connections.ts'
import type { GoodRequest } from './auth-requests.ts'

/** Sends a request and reads the JSON of its answer. */
type Post = (request: GoodRequest) => Promise<unknown>

const target = { url: 'https://clickhouse.example.com:8443', user: 'ada', password: 'secret' }
const kept = '/api/v1/user-connections'

/** Good requests of the routes for databases that people bring, where connections may be kept and a person is signed in. */
export const connectionRequests = (post: Post): Record<string, () => Promise<GoodRequest>> => {
  const add = { url: kept, body: { ...target, name: 'mine' } }
  const added = async () => `${kept}/${UserConnectionAnswer.parse(await post(add)).data.id}`
  return {
    'POST /api/v1/browser-connections/test': async () => ({ url: '/api/v1/browser-connections/test', body: target }),
    'POST /api/v1/browser-connections/sessions': async () => ({
      url: '/api/v1/browser-connections/sessions',
      body: target,
    }),
    'GET /api/v1/user-connections': async () => ({ url: kept }),
    'POST /api/v1/user-connections': async () => add,
    'PUT /api/v1/user-connections/{id}': async () => ({ url: await added(), body: { name: 'renamed' } }),
    'DELETE /api/v1/user-connections/{id}': async () => ({ url: await added() }),
  }
}
